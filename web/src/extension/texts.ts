/** What the extension says beyond what the page says, in the same language. */

import type * as english from "../page/languages/en";
import { languageOf, readByHer } from "../page/texts";

const LANGUAGES = import.meta.glob<typeof english.extension>("../page/languages/*.ts", {
  eager: true,
  import: "extension",
});

export const texts = languageOf(Object.values(LANGUAGES), readByHer());
