/** What ratings give away, by one title of this site: an example for who comes first. */

import { type Disclosure, GRAIN, ONE } from "../../index";
import type { Example } from "./model";
import type { Titles } from "./titles";

/** Titles that many know: the example is one of them. */
const KNOWN = 200;
/** Less than this is no example. */
const NOTABLE = 1.3;

/** The well-known title that one category rates most often, compared with another. */
export function exampleOf(disclosure: Disclosure, titles: Titles): Example | null {
  const [feature, ...others] = disclosure.features;
  if (!feature || others.length > 0) return null;
  let best: Example | null = null;
  for (const title of titles.all.slice(0, KNOWN)) {
    const often = oftenOf(disclosure, disclosure.index.get(title.item) ?? -1);
    const [least, most] = [Math.min(...often), Math.max(...often)];
    const times = most / least;
    if (!(times >= NOTABLE && times > (best?.times ?? 0))) continue;
    const [more, fewer] = [most, least].map((of) => feature.categories[often.indexOf(of)] ?? "");
    best = { title, feature: feature.name, more, fewer, times };
  }
  return best;
}

/** How often each category rates an item, up to a factor; nothing where that is not disclosed. */
function oftenOf({ rate, reveal }: Disclosure, item: number): number[] {
  if (rate?.[item]) return rate[item].map((odds) => 1 / (1 + Math.exp(-odds / GRAIN)));
  return reveal?.[item]?.map((probability) => ONE / probability) ?? [];
}
