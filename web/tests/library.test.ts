import { gzipSync } from "node:zlib";
import { build } from "vite";
import { expect, it } from "vitest";
import * as library from "../src/index";

it("is one ES module that imports nothing, under 40 KB compressed", async () => {
  const made = await build({
    configFile: new URL("../vite.library.config.ts", import.meta.url).pathname,
    root: new URL("..", import.meta.url).pathname,
    logLevel: "silent",
    build: { write: false },
  });
  const outputs = (Array.isArray(made) ? made : [made]).flatMap((one) =>
    "output" in one ? one.output : [],
  );
  expect(outputs).toHaveLength(1);
  const [chunk] = outputs;
  if (chunk.type !== "chunk") throw new Error("no code was built");
  expect(chunk.imports).toEqual([]);
  expect(chunk.exports.sort()).toEqual(Object.keys(library).sort());
  expect(gzipSync(chunk.code, { level: 9 }).length).toBeLessThan(40_000);
});
