/** Parts that are loaded when they are asked for, and nothing before: no preloading, nor its code. */

import type { Plugin } from "vite";

/** Take Vite's helper for preloading out of what is built. */
export function lazy(): Plugin {
  return {
    name: "midpoint-lazy",
    apply: "build",
    enforce: "pre",
    load: (id) =>
      id.includes("vite/preload-helper") ? "export const __vitePreload = (load) => load();" : null,
  };
}
