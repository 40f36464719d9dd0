/** Subresource integrity: the page's HTML names the SHA-384 of each script and style it loads. */

import { createHash } from "node:crypto";
import type { Plugin } from "vite";

const SCRIPT = /<script\b[^>]*?\ssrc="\/(assets\/[^"]+)"/;
const TAG = /<(?:script|link)\b[^>]*?\s(?:src|href)="(\/?assets\/[^"]+)"[^>]*?(?=\s*\/?>)/g;

type Bundle = Record<string, { type: string; imports?: readonly string[] }>;

/** Name what the page's script imports as well: else nothing would hold those parts to their bytes. */
function withImports(page: string, bundle: Bundle): string {
  const known = new Set<string>();
  const reach = (name: string) => {
    for (const imported of bundle[name]?.imports ?? []) {
      if (!known.has(imported)) reach(known.add(imported) && imported);
    }
  };
  const script = SCRIPT.exec(page);
  if (script) reach(script[1]);
  const links = [...known].map(
    (name) => `<link rel="modulepreload" crossorigin href="/${name}">\n    `,
  );
  return page.replace(SCRIPT, (tag) => links.join("") + tag);
}

/** Add `integrity` to the tags of the built page, from the bytes that are written. */
export function integrity(): Plugin {
  return {
    name: "midpoint-integrity",
    apply: "build",
    enforce: "post",
    generateBundle: {
      // After all that writes into scripts, such as the addresses of parts that are loaded later.
      order: "post",
      handler(_, bundle) {
        for (const page of Object.values(bundle)) {
          if (page.type !== "asset" || !page.fileName.endsWith(".html")) continue;
          page.source = withImports(String(page.source), bundle).replace(
            TAG,
            (tag: string, address: string) => {
              const file = bundle[address.replace(/^\//, "")];
              if (!file) throw new Error(`${page.fileName} loads ${address}, which was not built`);
              const bytes = file.type === "chunk" ? file.code : file.source;
              return `${tag} integrity="sha384-${createHash("sha384").update(bytes).digest("base64")}"`;
            },
          );
        }
      },
    },
  };
}
