/** The browser extension: directories to load, and archives, the same bytes from the same sources. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { defineConfig, type Plugin } from "vite";
import { archive } from "./archive";
import { lazy } from "./lazy";
import { manifestOf, TARGETS } from "./src/extension/manifest";

const root = new URL("./", import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root));
const { version } = JSON.parse(read("package.json").toString());
const ICONS = ["icons/48.png", "icons/128.png"];

/** Put what was built into one directory and one archive for each browser. */
function packed(): Plugin {
  return {
    name: "midpoint-extension",
    enforce: "post",
    generateBundle: {
      order: "post", // after all that writes into scripts
      handler(_, bundle) {
        const files = new Map(
          ICONS.map((icon) => [icon, new Uint8Array(read(`extension/${icon}`))]),
        );
        for (const [name, built] of Object.entries(bundle)) {
          files.set(name, Buffer.from(built.type === "chunk" ? built.code : built.source));
          delete bundle[name];
        }
        const emit = (fileName: string, source: Uint8Array | string) =>
          this.emitFile({ type: "asset", fileName, source });
        const sums = TARGETS.map((target) => {
          const manifest = `${JSON.stringify(manifestOf(target, version), null, 2)}\n`;
          files.set("manifest.json", Buffer.from(manifest));
          for (const [name, bytes] of files) emit(`${target}/${name}`, bytes);
          const [name, zip] = [`midpoint-${target}.zip`, archive(files)];
          emit(name, zip);
          return `${createHash("sha256").update(zip).digest("hex")}  ${name}\n`;
        });
        emit("SHA256SUMS", sums.join(""));
      },
    },
  };
}

export default defineConfig({
  root: "extension",
  publicDir: false,
  plugins: [lazy(), packed()],
  build: {
    outDir: "../dist/extension",
    emptyOutDir: true,
    target: "es2022",
    modulePreload: false,
    rolldownOptions: {
      input: { page: "extension/page.html", background: "src/extension/background.ts" },
      output: {
        entryFileNames: "[name].js",
        chunkFileNames: "[name].js",
        assetFileNames: "[name][extname]",
      },
    },
  },
});
