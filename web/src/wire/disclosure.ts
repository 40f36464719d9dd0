/** The disclosure: what the analyst publishes about its items, as integers. */
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
  pattern,
  refuse,
  requireAscending,
} from "./fields";
import { ONE } from "./fixed";
import { kind, type MessageOf } from "./message";
import { prior, requireShape, row } from "./positions";
import { type Column, SCHEMES, type Scheme } from "./scheme";

/** With this many cells, and ratings up to 2^31, the devices' sums stay exact. */
export const MOST_CELLS = 1024;
/** Columns that the digest of an item's numbers covers even where they are absent. */
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

/**
 * What a rating can be, in fixed point; `levels` is absent on a continuous scale. `reported` are those
 * of the levels that devices report on, if fewer; she rates on all of them. A single level, at the
 * upper end, makes the scale unary: a rating says that an item is in her set.
 */
export const ratingScale = part(
  {
    low: rating,
    high: rating,
    levels: optional(list(rating, 1)),
    reported: optional(list(rating, 2)),
  },
  ({ low, high, levels, reported }, path) => {
    const points = levels?.length === 1 ? [low, ...levels] : (levels ?? [low, high]);
    if (points.some((point, i) => i > 0 && points[i - 1] >= point)) {
      refuse("wrong_shape", path, "the scale does not ascend");
    }
    if (points[0] !== low || points[points.length - 1] !== high) {
      refuse("wrong_shape", path, "the levels do not run from low to high");
    }
    if (reported && !areFewer(reported, levels ?? [])) {
      refuse("wrong_shape", path, "the reported levels are not fewer levels");
    }
  },
);
export type RatingScale = Of<typeof ratingScale>;

/** Whether there is one level: what is rated is a set of items. */
export function isUnary(scale: RatingScale): boolean {
  return scale.levels?.length === 1;
}

/** Tell whether these are some of the levels, in their order, the ends among them. */
function areFewer(reported: readonly number[], levels: readonly number[]): boolean {
  const chosen = levels.filter(
    (level, i) => i % (levels.length - 1) === 0 || reported.includes(level),
  );
  return reported.length < levels.length && `${reported}` === `${chosen}`;
}

/** Said where people do not choose what they rate. */
export const assigned = pattern(/^assigned$/);

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
  keep: optional(row),
  leak: optional(integer(ONE / 2, ONE)),
  sets: optional(assigned),
};

/**
 * What a device needs to obfuscate; M items, K categories or joint cells, L levels.
 *
 * Several features make joint cells in row-major order: the last feature varies fastest. A column
 * is there exactly when the scheme needs it: `offset`, `reveal` (M, K), `levels` (M, K, L),
 * `average` (M, 1) or (M, K). With counterparts there are d selection and r taste factors, numbers in
 * 1/256: `rate` (M, K) are the log odds that each category rates the item at selection factors of 0,
 * `selection` (M, d) what each selection factor adds to them, `base` (M, K) what each category rates it
 * at taste factors of 0, `taste` (M, r) what each taste factor adds to that. `prior` is the prior of
 * positions of each category and stratum, in d + r dimensions, or d + 2 r where taste decides what is
 * rated too (`tasteSelects`). Under a leak budget `keep` (M,) multiplies the probability of revealing,
 * whatever the category, and `leak` is the AUC that somebody reaches who knew all errors of what is
 * disclosed, as the analyst says. With `sets` people do not choose what they rate, and a device answers
 * all that it is asked, or nothing. This proves shapes; whether the numbers are consistent is checked by
 * `checkNumbers`.
 */
export const Disclosure = kind("disclosure", fields, wellFormed, lookups);
export type Disclosure = MessageOf<typeof Disclosure>;
type Content = Fields<typeof fields>;

/** K: the number of categories, or of joint cells of several features. */
export function cellsOf(disclosure: Content): number {
  return disclosure.features.reduce((cells, { categories }) => cells * categories.length, 1);
}

/** Whether taste decides what is rated too, by r further selection factors. */
export function tasteSelects(content: Content): boolean {
  const width = widthOf(content.selection) + 2 * widthOf(content.taste);
  return schemeOf(content).subSamples && widthOf(content.prior?.mean[0]) === width;
}

/** The scheme that its name stands for. */
export function schemeOf(disclosure: Content): Scheme {
  return SCHEMES.get(disclosure.scheme) as Scheme;
}

/** Whether its scheme hides the category in what is sent, item by item. */
export function protects(disclosure: Content): boolean {
  const { scale } = disclosure;
  return schemeOf(disclosure).protects(scale.levels !== undefined, isUnary(scale));
}

/** A disclosure does not change, so neither do these. */
const NUMBERS = new WeakMap<Content, Map<number, string>>();

/** Return the digest of all that is disclosed about one item, in the order of COLUMNS. */
export function numbersOf(disclosure: Content, index: number): string {
  const known = NUMBERS.get(disclosure) ?? new Map<number, string>();
  NUMBERS.set(disclosure, known);
  const { scheme, features, scale, items } = disclosure;
  const covered = COLUMNS.filter((column) => disclosure[column] || ALWAYS.includes(column));
  const rows: unknown[] = covered.map((column) => disclosure[column]?.[index] ?? null);
  if (disclosure.keep) rows.push([disclosure.keep[index]]);
  const numbers =
    known.get(index) ?? digest(utf8(encode([scheme, features, scale, items[index], rows])));
  known.set(index, numbers);
  return numbers;
}

/** What every disclosure can be asked. */
interface Lookups {
  /** The index of each item in the columns. */
  readonly index: ReadonlyMap<string, number>;
  /**
   * Return the joint cell of these categories, by feature; row-major, the last fastest.
   *
   * Undefined if a feature is missing or its category is not in the disclosure.
   */
  cell(names: ReadonlyMap<string, string>): number | undefined;
}

function lookups({ items, features }: Content): Lookups {
  let index: ReadonlyMap<string, number> | undefined;
  return {
    get index() {
      index ??= new Map(items.map((item, i) => [item, i]));
      return index;
    },
    cell(names) {
      let cell = 0;
      for (const { name, categories } of features) {
        const category = categories.indexOf(names.get(name) ?? "");
        if (category < 0) return undefined;
        cell = cell * categories.length + category;
      }
      return cell;
    },
  };
}

function wellFormed(content: Content, path: Path): void {
  requireAscending(content.items, "items", path);
  if (new Set(content.features.map(({ name }) => name)).size !== content.features.length) {
    refuse("wrong_shape", path, "a feature is named twice");
  }
  if (cellsOf(content) > MOST_CELLS) {
    refuse("wrong_shape", path, `more than ${MOST_CELLS} joint cells`);
  }
  if (!SCHEMES.has(content.scheme)) {
    refuse("unknown_scheme", path, `there is no scheme '${content.scheme}'`);
  }
  requireColumns(content, path);
  requireBudget(content, path);
  requireLengths(content, path);
}

/** Refuse a leak budget without keep probabilities, and these unless there is one for each item. */
function requireBudget({ keep, leak, items }: Content, path: Path): void {
  if (keep === undefined && leak !== undefined) {
    refuse("wrong_columns", path, "a leak budget needs keep probabilities");
  }
  if (keep !== undefined && keep.length !== items.length) {
    refuse("wrong_shape", path, "there is not one keep probability per item");
  }
}

function requireColumns(content: Content, path: Path): void {
  const scheme = schemeOf(content);
  const columns = scheme.columnsOn(isUnary(content.scale));
  if (isUnary(content.scale) && !scheme.isForSets) {
    refuse("wrong_columns", path, `scheme '${content.scheme}' is not for unary data`);
  }
  const present = COLUMNS.filter((column) => content[column] !== undefined);
  if (present.length !== columns.size || !present.every((column) => columns.has(column))) {
    const needed = [...columns].sort().join(", ");
    refuse(
      "wrong_columns",
      path,
      `scheme '${content.scheme}' takes columns [${needed}], found [${present}]`,
    );
  }
  if ((content.prior !== undefined) !== scheme.counterparts) {
    const wrong = scheme.counterparts ? "lacks its" : "takes no";
    refuse("wrong_columns", path, `scheme '${content.scheme}' ${wrong} prior of positions`);
  }
  if (scheme.needsLevels && content.scale.levels === undefined) {
    refuse("wrong_columns", path, `scheme '${content.scheme}' needs a discrete scale`);
  }
  if (content.scale.reported && scheme.valueMap !== "discrete") {
    refuse("wrong_columns", path, `scheme '${content.scheme}' reports on all levels`);
  }
  if (content.sets && scheme.subSamples) {
    refuse("wrong_columns", path, `scheme '${content.scheme}' withholds assigned items`);
  }
  if (content.features.length === 0 && present.some((column) => column !== "average")) {
    refuse("wrong_columns", path, `scheme '${content.scheme}' needs a private feature`);
  }
  for (const column of present) {
    if (content[column]?.length !== content.items.length) {
      refuse("wrong_shape", path, `column '${column}' has not one row per item`);
    }
  }
}

function requireLengths(content: Content, path: Path): void {
  const cells = cellsOf(content);
  const single = schemeOf(content).valueMap === "item_average";
  const require = (rows: readonly (readonly unknown[])[] | undefined, what: string, n: number) => {
    if (rows?.some((row) => row.length !== n)) {
      refuse("wrong_shape", path, `column '${what}' has rows of wrong length`);
    }
  };
  require(content.offset, "offset", cells);
  require(content.reveal, "reveal", cells);
  require(content.levels, "levels", cells);
  require(content.average, "average", single ? 1 : cells);
  for (const rows of content.levels ?? [])
    require(rows, "level", content.scale.levels?.length ?? 0);
  const [selectionFactors, tasteFactors] = [widthOf(content.selection), widthOf(content.taste)];
  require(content.rate, "rate", cells);
  require(content.selection, "selection", selectionFactors);
  require(content.base, "base", cells);
  require(content.taste, "taste", tasteFactors);
  const times = tasteSelects(content) ? 2 : 1;
  if (content.prior)
    requireShape(content.prior, cells, selectionFactors + times * tasteFactors, path);
}

/** Return how many selection or taste factors there are, by the first item. */
function widthOf(rows: readonly (readonly number[])[] | undefined): number {
  return rows?.[0]?.length ?? 0;
}
