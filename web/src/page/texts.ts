/** What the page says: the sentences of one language, with what the site calls its items. */

import type { Wording } from "../index";
import type * as english from "./languages/en";

/** What the site calls its items, and whether people only name them: then it has sets, no stars. */
export interface Site extends Wording {
  readonly sets: boolean;
}

/** Where a site does not say. */
export const FILMS: Site = { item: "film", items: "films", done: "seen", sets: false };

/** What a site says of itself; where it has one level there is nothing to rate. */
export function siteOf(wording: Wording | undefined, levels: readonly number[]): Site {
  const { item, items, done } = wording ?? FILMS;
  return { item, items, done, sets: levels.length === 1 };
}

type Language = typeof english.page;
export type Texts = ReturnType<Language["sentences"]>;

/** A language is one file here, and nothing else. */
const LANGUAGES = import.meta.glob<Language>("./languages/*.ts", { eager: true, import: "page" });

/** The first language that a person reads and the page speaks; English if there is none. */
export function languageOf<L extends { readonly tag: string }>(
  languages: readonly L[],
  read: readonly string[],
): L {
  const spoken = new Map(languages.map((language) => [language.tag, language]));
  const known = read.map((name) => spoken.get(name.split("-")[0] ?? "")).find(Boolean);
  return (known ?? spoken.get("en"))!;
}

const language = languageOf(Object.values(LANGUAGES), readByHer());

/** The languages that her browser says she reads, the best first. */
export function readByHer(): readonly string[] {
  return globalThis.navigator?.languages ?? [];
}

/** All sentences, as they are said at this site. */
export let texts: Texts = language.sentences(FILMS);

/** From now on speak as this site does; what is drawn has to be drawn again. */
export function speak(site: Site): void {
  texts = language.sentences(site);
}

export const { tag, featureName, categoryName, groupName, listed, percent } = language;
