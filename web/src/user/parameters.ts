/** A disclosure's numbers about positions, read once and used for every rating. */
import { type Disclosure, tasteSelects } from "../wire/disclosure";
import { fromFixed } from "../wire/fixed";

type Row = readonly number[];
type Rows = readonly Row[];

/** What counterparts are found by; numbers about items in 1/256, D dimensions. */
export interface PositionModel {
  /** Log odds that each category rates the item, at selection factors of 0. Shape (M, K). */
  readonly rate: Rows;
  /**
   * What each selection factor adds to them, taste factors that choose among them. Shape (M, d), d = 0
   * where sets are not protected.
   */
  readonly selection: Rows;
  /** What each category rates the item at taste factors of 0. Shape (M, K). */
  readonly base: Rows;
  /** What each taste factor adds to it. Shape (M, r). */
  readonly taste: Rows;
  /** The prior of light and of heavy raters, the lightest first. */
  readonly strata: readonly Stratum[];
  /** Variance of a rating around base + <taste, x>. */
  readonly noise: number;
  /** Of sets: how much her own probability of an item counts in its score; 0 if it does not. */
  readonly weight: number;
}

/** The prior of positions in one stratum of activity. */
export interface Stratum {
  /** Its least activity in each category, in 1/256. Shape (K,). */
  readonly least: Row;
  /** Mean position of each category. Shape (K, D). */
  readonly mean: Rows;
  /** Inverse covariance of its positions. Shape (K, D, D). */
  readonly precision: readonly Rows[];
  /** How positions of one category are mapped to those of another. Shape (K, K, D, D). */
  readonly map: readonly (readonly Rows[])[];
  /** Mean and deviation of log spreads in each category, where they are carried over. (K, 2). */
  readonly spread: Rows | undefined;
}

/** A disclosure does not change, so neither do these. */
const MODELS = new WeakMap<Disclosure, PositionModel>();

/** Read a disclosure's numbers about positions; undefined under a scheme without counterparts. */
export function modelOf(disclosure: Disclosure): PositionModel | undefined {
  const { prior, rate, selection, base, taste } = disclosure;
  if (!prior || !base || !taste) return undefined;
  const known = MODELS.get(disclosure);
  if (known) return known;
  const matrix = (rows: Rows) => rows.map((row) => row.map(fromFixed));
  const none: Row = [];
  const choose = tasteSelects(disclosure);
  const model: PositionModel = {
    rate: rate ?? base.map((row) => row.map(() => 0)),
    selection: base.map((_, i) => [...(selection?.[i] ?? none), ...(choose ? taste[i] : none)]),
    base,
    taste,
    strata: prior.least.map((least, g) => ({
      least,
      mean: matrix(prior.mean[g]),
      precision: prior.precision[g].map(matrix),
      map: prior.map[g].map((maps) => maps.map(matrix)),
      spread: prior.spread && matrix(prior.spread[g]),
    })),
    noise: fromFixed(prior.noise),
    weight: prior.weight ?? 0,
  };
  MODELS.set(disclosure, model);
  return model;
}
