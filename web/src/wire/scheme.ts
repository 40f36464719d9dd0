/** The schemes by name: whether ratings are withheld, and what becomes of those that are not. */

/** What a revealed rating is turned into. */
export type ValueMap =
  | "as_is"
  | "shifted"
  | "rounded"
  | "item_average"
  | "feature_average"
  | "discrete";

export type Column =
  | "offset"
  | "reveal"
  | "levels"
  | "average"
  | "rate"
  | "selection"
  | "base"
  | "taste";

const COLUMN: Record<ValueMap, Column | undefined> = {
  as_is: undefined,
  shifted: "offset",
  rounded: "offset",
  item_average: "average",
  feature_average: "average",
  discrete: "levels",
};

/** One obfuscation scheme: (sub-sampling or not) x (a map of values). */
export class Scheme {
  /** What it is called in a disclosure. */
  readonly name: string;
  /** Whether ratings are withheld so that what was rated says nothing (Algorithm 2). */
  readonly subSamples: boolean;
  /** What a revealed rating is turned into. */
  readonly valueMap: ValueMap;
  /** Whether a device answers as its user's counterparts would: see `wire/positions`. */
  readonly counterparts: boolean;
  /** The columns that a disclosure for it has, and no other. */
  readonly columns: ReadonlySet<Column>;

  constructor(name: string, subSamples: boolean, valueMap: ValueMap, counterparts: boolean) {
    this.name = name;
    this.subSamples = subSamples;
    this.valueMap = valueMap;
    this.counterparts = counterparts;
    this.columns = new Set(this.#needed());
    Object.freeze(this);
  }

  #needed(): Column[] {
    const value = COLUMN[this.valueMap];
    const columns = value ? [value] : [];
    if (this.counterparts) columns.push("base", "taste");
    if (!this.subSamples) return columns;
    return this.counterparts ? [...columns, "rate", "selection"] : [...columns, "reveal"];
  }

  /** The columns on a scale; on a unary one, what categories prefer instead of levels. */
  columnsOn(unary: boolean): ReadonlySet<Column> {
    if (!unary || !this.columns.has("levels")) return this.columns;
    return new Set([...this.columns].map((column) => (column === "levels" ? "offset" : column)));
  }

  /** Whether it goes with unary data: raw sets, or items withheld and no value changed. */
  get isForSets(): boolean {
    return this.valueMap === "as_is" || (this.valueMap === "discrete" && this.subSamples);
  }

  /**
   * Whether it hides the category in the ratings themselves, item by item.
   *
   * Ratings as they are do not. Nor does a plain shift of whole stars: what is behind the decimal
   * point shows which offset was subtracted. Of unary data there is nothing to hide but which items
   * are in a set: schemes that withhold some do.
   */
  protects(discrete: boolean, unary = false): boolean {
    if (unary) return this.isForSets && this.subSamples;
    const shiftedStars = this.valueMap === "shifted" && discrete;
    return this.valueMap !== "as_is" && !shiftedStars;
  }

  /** Whether it is defined on a discrete scale only. */
  get needsLevels(): boolean {
    return this.valueMap === "rounded" || this.valueMap === "discrete";
  }
}

const ROWS: [name: string, subSamples: boolean, valueMap: ValueMap, counterparts?: boolean][] = [
  ["no", false, "as_is"],
  ["mp", false, "shifted"],
  ["mpr", false, "rounded"],
  ["ss", true, "as_is"],
  ["mpss", true, "shifted"],
  ["mpssr", true, "rounded"],
  ["ia", false, "item_average"],
  ["fa", false, "feature_average"],
  ["ssia", true, "item_average"],
  ["ssfa", true, "feature_average"],
  ["dmp", false, "discrete"],
  ["dmpss", true, "discrete"],
  ["cmp", false, "discrete", true],
  ["cmpss", true, "discrete", true],
];

/** All schemes of Section 7.1, the discrete midpoint and the counterpart midpoint, by name. */
export const SCHEMES: ReadonlyMap<string, Scheme> = new Map(
  ROWS.map(([name, subSamples, valueMap, counterparts = false]) => [
    name,
    new Scheme(name, subSamples, valueMap, counterparts),
  ]),
);
