/** Obfuscation, pure: one rating at a time, with given uniforms. */
import { MidpointError } from "../../errors";
import { type Disclosure, isUnary, schemeOf } from "../../wire/disclosure";
import { ONE } from "../../wire/fixed";
import { MIX, REVEAL, SPLIT, type Uniforms, VALUE } from "./coins";
import type { Adjustment } from "./counterparts";
import { discreteMidpoint, split } from "./discrete";

/** What may be sent of one rating. */
export interface Obfuscated {
  /** Whether the rating is revealed at all. */
  readonly keep: boolean;
  /** What it is revealed as, fixed point; without meaning where it is withheld. */
  readonly value: number;
}

/**
 * Apply Algorithm 1 or 2, or another scheme of Section 7.1, with given uniforms.
 *
 * With probability alpha a rating is obfuscated, else it is released as it is (Section 7.2). `item` is
 * its index in the disclosure, `value` her rating in fixed point, `cell` her category, `adjustment`
 * what `adjust` says of her. Given that a rating is obfuscated, u_mix / alpha is uniform again, and
 * decides which neighbouring level a moved value goes to.
 */
export function obfuscate(
  item: number,
  value: number,
  cell: number,
  disclosure: Disclosure,
  uniform: Uniforms,
  adjustment: Adjustment,
  alpha = 1,
): Obfuscated {
  if (!(alpha >= 0 && alpha <= 1)) throw new MidpointError(`alpha is a probability, not ${alpha}`);
  const shift = adjustment.shift(item);
  const before = moved(value, shift, disclosure, uniform[MIX] / (alpha || 1));
  const reported = reportedAs(item, before, cell, disclosure, uniform);
  if (uniform[MIX] >= alpha) return { keep: true, value };
  return { keep: uniform[REVEAL] * ONE < adjustment.reveal(item), value: reported };
}

/** Return whether a value is not a rating on the scale. */
export function illegal(value: number, { scale }: Disclosure): boolean {
  if (scale.levels) return !scale.levels.includes(value);
  return !(Number.isInteger(value) && value >= scale.low && value <= scale.high);
}

/** Move a rating towards its counterparts', to a level next to where that is. */
function moved(value: number, shift: number, disclosure: Disclosure, uniform: number): number {
  if (shift === 0) return value;
  const { low, high, levels } = disclosure.scale;
  if (!levels || illegal(value, disclosure)) {
    throw new MidpointError("a rating that is not a level of the scale cannot be moved");
  }
  return split(clip(value + shift, low, high), levels, uniform);
}

/** Turn a rating into what is reported, by the scheme's map of values. */
function reportedAs(
  item: number,
  value: number,
  cell: number,
  disclosure: Disclosure,
  uniform: Uniforms,
): number {
  const { scale, offset, levels, average } = disclosure;
  const { valueMap, name } = schemeOf(disclosure);
  if (isUnary(scale)) {
    if (illegal(value, disclosure)) {
      throw new MidpointError(`${value / ONE} is not a level of the scale`);
    }
    return value; // an item is in her set: there is one value, and it says nothing
  }
  if (valueMap === "as_is") return value;
  if (valueMap === "shifted" && offset) {
    return shifted(value - offset[item][cell], offset[item], disclosure);
  }
  if (valueMap === "rounded" && offset && scale.levels) {
    return split(
      clip(value - offset[item][cell], scale.low, scale.high),
      scale.levels,
      uniform[SPLIT],
    );
  }
  if (average && (valueMap === "item_average" || valueMap === "feature_average")) {
    return average[item][Math.floor(uniform[VALUE] * average[item].length)];
  }
  if (valueMap === "discrete" && levels && scale.levels) {
    if (illegal(value, disclosure)) {
      throw new MidpointError(`${value / ONE} is not a level of the scale`);
    }
    const coins = [uniform[VALUE], uniform[SPLIT]] as const;
    return discreteMidpoint(
      levels[item],
      scale.levels,
      scale.levels.indexOf(value),
      cell,
      ...coins,
      scale.reported,
    );
  }
  // Never fall back to the rating as it is.
  throw new MidpointError(`this disclosure lacks the column that scheme '${name}' needs`);
}

/**
 * Bring y = r - offset into what all categories can reach, on a continuous scale.
 *
 * A scale has ends: one category's y would go up to high - offset, beyond all that another can
 * report, and show her there. On a discrete scale a plain shift protects nothing anyway.
 */
function shifted(y: number, offsets: readonly number[], { scale }: Disclosure): number {
  if (scale.levels) return y;
  return clip(y, ...reach(offsets, scale.low, scale.high));
}

/** Return what every category can go down to and up to: max_k(low - o_k) and min_k(high - o_k). */
export function reach(offsets: readonly number[], low: number, high: number): [number, number] {
  return [low - Math.min(...offsets), high - Math.max(...offsets)];
}

export function clip(value: number, low: number, high: number): number {
  return Math.min(Math.max(value, low), high);
}
