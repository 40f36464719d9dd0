/** Disclosures that nobody published, for tests. */
import fc from "fast-check";
import {
  type Accepted,
  Catalogue,
  checkDisclosure,
  Disclosure,
  Entry,
  type FeatureNames,
  GRAIN,
  ONE,
  type Prior,
  SCHEMES,
  type Signed,
  SigningKey,
  Solicitation,
} from "../../src/index";
import { mostSpread, spreadOfMeans } from "../../src/wire/limits";
import type { Column } from "../../src/wire/scheme";

export const ANALYST = new SigningKey(new Uint8Array(32).fill(1));
export const GENDER: FeatureNames = { name: "gender", categories: ["F", "M"] };
export const AGE: FeatureNames = { name: "age", categories: ["young", "middle", "old"] };
/** How many selection and taste factors people have here. */
const SELECTION_FACTORS = 3;
const TASTE_FACTORS = 2;
export const STARS = [1, 2, 3, 4, 5].map((star) => star * ONE);

export interface Made {
  readonly scheme?: string;
  readonly features?: readonly FeatureNames[];
  readonly n?: number;
  readonly points?: readonly number[];
  readonly seed?: number;
}

/** Return numbers in [0, 1) that are the same each time. */
export function dice(seed: number): () => number {
  let state = seed + 1;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Draw a consistent disclosure. */
export function disclosure(made: Made = {}): Disclosure {
  const { scheme = "dmpss", features = [GENDER], n = 12, points = STARS, seed = 1 } = made;
  const next = dice(seed);
  const K = features.reduce((cells, { categories }) => cells * categories.length, 1);
  const rows = (make: () => number[]) => Array.from({ length: n }, make);
  const needed = SCHEMES.get(scheme)!;
  const selectionFactors = needed.subSamples ? SELECTION_FACTORS : 0;
  const span = ((points[points.length - 1] - points[0]) * GRAIN) / ONE;
  const some = (length: number, low: number, high: number) => () =>
    Array.from({ length }, () => Math.floor(low + next() * (high - low)));
  const drawn: Record<Column, () => unknown> = {
    offset: () => rows(() => centred(Array.from({ length: K }, () => next() * ONE))),
    reveal: () => rows(() => ratios(Array.from({ length: K }, () => 0.05 + next() * 0.9))),
    levels: () => rows(() => []).map(() => plausible(K, points, next)),
    average: () =>
      rows(() =>
        Array.from({ length: needed.valueMap === "item_average" ? 1 : K }, () =>
          Math.floor(points[0] + next() * (points[points.length - 1] - points[0])),
        ),
      ),
    rate: () => rows(some(K, -3 * GRAIN, 2 * GRAIN)),
    selection: () => rows(some(selectionFactors, -GRAIN, GRAIN)),
    base: () => rows(some(K, (points[0] * GRAIN) / ONE, (points[0] * GRAIN) / ONE + span)),
    taste: () => rows(some(TASTE_FACTORS, -span / 4, span / 4)),
  };
  return Disclosure.make({
    scheme,
    features,
    scale: { low: points[0], high: points[points.length - 1], levels: points },
    items: Array.from({ length: n }, (_, j) => `item-${String(j).padStart(4, "0")}`),
    ...Object.fromEntries([...needed.columns].map((name) => [name, drawn[name]()])),
    prior: needed.counterparts
      ? drawnPrior(K, selectionFactors + TASTE_FACTORS, span, next)
      : undefined,
  });
}

/** Draw a prior of two strata: those who rate less, and more, than about what is expected. */
function drawnPrior(K: number, D: number, span: number, next: () => number): Prior {
  const strata = [0, 1].map(() => stratum(K, D, next));
  return {
    least: [0, 1].map((g) =>
      Array.from({ length: K }, () => g * Math.floor((0.75 + next() / 2) * GRAIN)),
    ),
    mean: strata.map(({ mean }) => mean),
    precision: strata.map(({ precision }) => precision),
    map: strata.map(({ map }) => map),
    noise: Math.ceil((span / GRAIN) ** 2 * (ONE / 16)),
  };
}

/** Draw a prior whose maps carry each category's positions to the others', factor by factor. */
function stratum(K: number, D: number, next: () => number) {
  const draw = (low: number, high: number) =>
    Array.from({ length: K }, () =>
      Array.from({ length: D }, () => Math.floor(low + next() * (high - low))),
    );
  const [mean, roots] = [draw(-ONE, ONE), draw(GRAIN / 2, 2 * GRAIN)];
  const diagonal = (of: (i: number) => number) =>
    Array.from({ length: D }, (_, i) =>
      Array.from({ length: D }, (_, j) => (i === j ? Math.round(of(i)) : 0)),
    );
  return {
    mean,
    precision: roots.map((root) => diagonal((i) => root[i] ** 2)),
    map: roots.map((from) => roots.map((to) => diagonal((i) => (ONE * from[i]) / to[i]))),
  };
}

function centred(raw: number[]): number[] {
  const mean = raw.reduce((a, b) => a + b, 0) / raw.length;
  return raw.map((offset) => Math.round(offset - mean));
}

function ratios(p: number[]): number[] {
  return p.map((rate) => Math.max(1, Math.floor((Math.min(...p) / rate) * ONE)));
}

/** Draw again while the categories are further apart than devices take. */
function plausible(K: number, points: readonly number[], next: () => number): number[][] {
  const most = mostSpread(points[points.length - 1] - points[0]) * ONE;
  for (;;) {
    const drawn = distributions(K, points.length, next);
    if (spreadOfMeans(drawn, points) <= most) return drawn;
  }
}

function distributions(K: number, L: number, next: () => number): number[][] {
  return Array.from({ length: K }, () => {
    const cuts = Array.from({ length: L - 1 }, () => Math.floor(next() * (ONE + 1)));
    const ends = [0, ...cuts.sort((a, b) => a - b), ONE];
    return ends.slice(1).map((end, l) => end - ends[l]);
  });
}

/** Any scheme, features and seed. */
export const anyMade = fc.record({
  scheme: fc.constantFrom(...SCHEMES.keys()),
  features: fc.constantFrom([GENDER], [AGE], [GENDER, AGE]),
  points: fc.constantFrom(STARS, [0, ONE, 3 * ONE, 7 * ONE], [-ONE, ONE / 2]),
  seed: fc.nat(),
});

/** Four coins in [0, 1). */
export const anyUniforms = fc.tuple(coin(), coin(), coin(), coin());

function coin(): fc.Arbitrary<number> {
  return fc.maxSafeInteger().map((bits) => Math.abs(bits) / 2 ** 53);
}

/** Give every item a title. */
export function titlesOf({ items, features, scale, scheme }: Disclosure): Catalogue {
  const titles = items.map((item) => `Title of ${item}`);
  const ratings = items.map((_, j) => j);
  return Catalogue.make({ items, titles, ratings, features, scale, scheme });
}

/** Make the analyst's list of these disclosures, with their titles. */
export function chain(shown: readonly Disclosure[], key = ANALYST): Signed[] {
  let previous: string | undefined;
  return shown.map((published, sequence) => {
    const time = 1_700_000_000 + sequence;
    const named = { disclosure: published.digest, catalogue: titlesOf(published).digest };
    const entry = Entry.make({ sequence, ...named, previous, time, key: key.public });
    previous = entry.digest;
    return key.seal(Entry, entry);
  });
}

/** Accept it on first use, unsafe ones too. */
export function accepted(shown: Disclosure): Accepted {
  const lax = { ratingsInLevels: false, allowUnsafe: true };
  return checkDisclosure(shown.text, chain([shown]), undefined, undefined, lax);
}

/** Ask about these items, or all. */
export function solicitation(shown: Disclosure, round = 1, items = shown.items, open = false) {
  return Solicitation.make({ disclosure: shown.digest, round, items, open });
}

/** Draw ratings for a share of the items. */
export function ratings(shown: Disclosure, seed = 7, share = 0.8): Map<string, number> {
  const next = dice(seed);
  const points = shown.scale.levels ?? [shown.scale.low, shown.scale.high];
  const rated = shown.items.filter(() => next() < share);
  return new Map(rated.map((item) => [item, points[Math.floor(next() * points.length)]]));
}
