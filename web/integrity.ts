/** Subresource integrity: the page's HTML names the SHA-384 of each script and style it loads. */

import { createHash } from "node:crypto";
import type { Plugin } from "vite";

const TAG = /<(?:script|link)\b[^>]*?\s(?:src|href)="(\/?assets\/[^"]+)"[^>]*?(?=\s*\/?>)/g;

/** Add `integrity` to the tags of the built page, from the bytes that are written. */
export function integrity(): Plugin {
  return {
    name: "midpoint-integrity",
    apply: "build",
    enforce: "post",
    generateBundle: {
      order: "post", // others still change scripts that load parts later
      handler(_, bundle) {
        for (const page of Object.values(bundle)) {
          if (page.type !== "asset" || !page.fileName.endsWith(".html")) continue;
          page.source = String(page.source).replace(TAG, (tag: string, address: string) => {
            const file = bundle[address.replace(/^\//, "")];
            if (!file) throw new Error(`${page.fileName} loads ${address}, which was not built`);
            const bytes = file.type === "chunk" ? file.code : file.source;
            const hashed = createHash("sha384").update(bytes).digest("base64");
            return `${tag} integrity="sha384-${hashed}"`;
          });
        }
      },
    },
  };
}
