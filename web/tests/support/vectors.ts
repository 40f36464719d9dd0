/** The vector files that both languages are held to. */
import { readFileSync } from "node:fs";

/** Return the cases of one file in vectors/v1. */
// biome-ignore lint/suspicious/noExplicitAny: a case is whatever its file says
export function cases(name: string): any[] {
  const path = new URL(`../../../vectors/v1/${name}.json`, import.meta.url);
  return JSON.parse(readFileSync(path, "utf8")).cases;
}
