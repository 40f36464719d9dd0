/** The page, as `midpoint serve` serves it: relative to its root, the same bytes from the same sources. */
import { defineConfig } from "vite";
import { integrity } from "./integrity";
import { lazy } from "./lazy";

export default defineConfig({
  plugins: [lazy(), integrity()],
  build: {
    outDir: "../src/midpoint/analyst/service/http/page",
    emptyOutDir: true,
    target: "es2022",
    modulePreload: false,
  },
});
