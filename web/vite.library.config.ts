/** The library alone: one ES module without a framework. */
import { defineConfig } from "vite";

export default defineConfig({
  publicDir: false,
  build: {
    outDir: "dist",
    target: "es2022",
    minify: true,
    rolldownOptions: { output: { minify: true } },
    lib: { entry: "src/index.ts", formats: ["es"], fileName: () => "midpoint.js" },
  },
});
