/** The disclosure: what the analyst tells everyone about its items, as integers. */
import { digest, encode, utf8 } from "./canonical";
import {
  type Fields,
  integer,
  list,
  name,
  type Of,
  optional,
  type Path,
  part,
  refuse,
  requireAscending,
} from "./fields";
import { kind, type MessageOf } from "./message";
import { prior, requireShape, row } from "./positions";
import { type Column, SCHEMES, type Scheme } from "./scheme";

/** With this many cells, and ratings up to 2^31, the devices' sums stay exact. */
export const MOST_CELLS = 1024;
/** Columns that the digest of an item's numbers tells of even where they are absent. */
const ALWAYS: readonly Column[] = ["offset", "reveal", "levels", "average"];
const COLUMNS: readonly Column[] = [...ALWAYS, "rate", "selection", "base", "taste"];

const rating = integer(-(2 ** 31), 2 ** 31);

/** One private feature and its categories, in the order of their numbers. */
export const featureNames = part(
  { name, categories: list(name, 2) },
  ({ name, categories }, path) => {
    if (new Set(categories).size !== categories.length) {
      refuse("wrong_shape", path, `feature '${name}' names a category twice`);
    }
  },
);
export type FeatureNames = Of<typeof featureNames>;

/** What a rating can be, in fixed point; `levels` is absent on a continuous scale. */
export const ratingScale = part(
  { low: rating, high: rating, levels: optional(list(rating, 2)) },
  ({ low, high, levels }, path) => {
    const points = levels ?? [low, high];
    if (points.some((point, i) => i > 0 && points[i - 1] >= point)) {
      refuse("wrong_shape", path, "the scale does not ascend");
    }
    if (points[0] !== low || points[points.length - 1] !== high) {
      refuse("wrong_shape", path, "the levels do not run from low to high");
    }
  },
);
export type RatingScale = Of<typeof ratingScale>;

const fields = {
  scheme: name,
  features: list(featureNames),
  scale: ratingScale,
  items: list(name, 1),
  offset: optional(list(row)),
  reveal: optional(list(row)),
  levels: optional(list(list(row))),
  average: optional(list(row)),
  rate: optional(list(row)),
  selection: optional(list(row)),
  base: optional(list(row)),
  taste: optional(list(row)),
  prior: optional(prior),
  bits: optional(integer(1, 16)),
};

/**
 * What a device needs to obfuscate; M items, K categories or joint cells, L levels.
 *
 * Several features make joint cells in row-major order: the last feature varies fastest. A column
 * is there exactly when the scheme needs it: `offset`, `reveal` (M, K), `levels` (M, K, L),
 * `average` (M, 1) or (M, K). With counterparts, d selection factors and r tastes, in 1/256: `rate` (M, K) are
 * the log odds that each category rates the item at selection factors of 0, `selection` (M, d) what each selection adds
 * to them, `base` (M, K) what each category rates it at tastes of 0, `taste` (M, r) what each taste
 * adds to that; `prior` says where light and heavy raters of each category lie, in d + r dimensions, or
 * d + 2 r where tastes choose what is rated too (`tasteSelects`). This proves shapes; whether the
 * numbers are consistent is checked by `checkNumbers`.
 */
export const Disclosure = kind("disclosure", fields, wellFormed);
export type Disclosure = MessageOf<typeof Disclosure>;
type Content = Fields<typeof fields>;

/** K: the number of categories, or of joint cells of several features. */
export function cellsOf(disclosure: Content): number {
  return disclosure.features.reduce((cells, { categories }) => cells * categories.length, 1);
}

/** Whether tastes decide what is rated too, as further selection factors: d + 2 r dimensions. */
export function tasteSelects(found: Content): boolean {
  const width = widthOf(found.selection) + 2 * widthOf(found.taste);
  return schemeOf(found).subSamples && widthOf(found.prior?.mean[0]) === width;
}

/** The scheme that its name stands for. */
export function schemeOf(disclosure: Content): Scheme {
  return SCHEMES.get(disclosure.scheme) as Scheme;
}

/** A disclosure does not change, so neither do these. */
const NUMBERS = new WeakMap<Content, Map<number, string>>();

/** Return the digest of all that is disclosed about one item, in the order of COLUMNS. */
export function numbersOf(disclosure: Content, index: number): string {
  const known = NUMBERS.get(disclosure) ?? new Map<number, string>();
  NUMBERS.set(disclosure, known);
  const { scheme, features, scale, items } = disclosure;
  const told = COLUMNS.filter((column) => disclosure[column] || ALWAYS.includes(column));
  const rows = told.map((column) => disclosure[column]?.[index] ?? null);
  const found =
    known.get(index) ?? digest(utf8(encode([scheme, features, scale, items[index], rows])));
  known.set(index, found);
  return found;
}

function wellFormed(found: Content, path: Path): void {
  requireAscending(found.items, "items", path);
  if (new Set(found.features.map(({ name }) => name)).size !== found.features.length) {
    refuse("wrong_shape", path, "a feature is named twice");
  }
  if (cellsOf(found) > MOST_CELLS) {
    refuse("wrong_shape", path, `more than ${MOST_CELLS} joint cells`);
  }
  if (!SCHEMES.has(found.scheme)) {
    refuse("unknown_scheme", path, `there is no scheme '${found.scheme}'`);
  }
  requireColumns(found, path);
  requireLengths(found, path);
}

function requireColumns(found: Content, path: Path): void {
  const scheme = schemeOf(found);
  const present = COLUMNS.filter((column) => found[column] !== undefined);
  if (present.length !== scheme.columns.size || !present.every((one) => scheme.columns.has(one))) {
    const needed = [...scheme.columns].sort().join(", ");
    refuse(
      "wrong_columns",
      path,
      `scheme '${found.scheme}' takes columns [${needed}], found [${present}]`,
    );
  }
  if ((found.prior !== undefined) !== scheme.counterparts) {
    const wrong = scheme.counterparts ? "lacks its" : "takes no";
    refuse("wrong_columns", path, `scheme '${found.scheme}' ${wrong} prior of positions`);
  }
  if (scheme.needsLevels && found.scale.levels === undefined) {
    refuse("wrong_columns", path, `scheme '${found.scheme}' needs a discrete scale`);
  }
  if (found.features.length === 0 && present.some((column) => column !== "average")) {
    refuse("wrong_columns", path, `scheme '${found.scheme}' needs a private feature`);
  }
  for (const column of present) {
    if (found[column]?.length !== found.items.length) {
      refuse("wrong_shape", path, `column '${column}' has not one row per item`);
    }
  }
}

function requireLengths(found: Content, path: Path): void {
  const cells = cellsOf(found);
  const single = schemeOf(found).valueMap === "item_average";
  const require = (rows: readonly (readonly unknown[])[] | undefined, what: string, n: number) => {
    if (rows?.some((one) => one.length !== n)) {
      refuse("wrong_shape", path, `column '${what}' has rows of wrong length`);
    }
  };
  require(found.offset, "offset", cells);
  require(found.reveal, "reveal", cells);
  require(found.levels, "levels", cells);
  require(found.average, "average", single ? 1 : cells);
  for (const rows of found.levels ?? []) require(rows, "level", found.scale.levels?.length ?? 0);
  const [selectionFactors, tastes] = [widthOf(found.selection), widthOf(found.taste)];
  require(found.rate, "rate", cells);
  require(found.selection, "selection", selectionFactors);
  require(found.base, "base", cells);
  require(found.taste, "taste", tastes);
  const times = tasteSelects(found) ? 2 : 1;
  if (found.prior) requireShape(found.prior, cells, selectionFactors + times * tastes, path);
}

/** Return how many selection factors or tastes there are, by the first item. */
function widthOf(rows: readonly (readonly number[])[] | undefined): number {
  return rows?.[0]?.length ?? 0;
}
