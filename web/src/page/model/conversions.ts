/** From the library's objects to what the views draw. */

import {
  type Certificate,
  correction,
  type Disclosure,
  type Ledger,
  MILLION,
  type Recommendation,
  Report,
} from "../../index";
import type { Answered, Measured, Recommended } from "./model";
import type { Titles } from "./titles";

/** Every decided item: the value sent, or null if it is withheld. */
export function finalOf(ledger: Ledger): Map<string, number | null> {
  return new Map([...ledger.decided].map((item) => [item, ledger.decision(item)?.value ?? null]));
}

/** The answered rounds, oldest first, each with what was new in it. */
export function answeredOf(
  ledger: Ledger,
  ratings: ReadonlyMap<string, number>,
  unsent: readonly string[],
  titles: Titles,
): Answered[] {
  return ledger.rounds.map(({ report, withheld }, i) => {
    const line = (item: string, value: number | null) => ({
      title: titles.of(item),
      yours: ratings.get(item) ?? null,
      sent: value,
    });
    const decided = [
      ...Report.parse(report).answers.map(([item, value]) => line(item, value)),
      ...withheld.map((item) => line(item, null)),
    ];
    decided.sort((a, b) => (a.title.name < b.title.name ? -1 : 1));
    return { number: i + 1, decided, bytes: report, delivered: !unsent.includes(report) };
  });
}

/** An auditor's figures as shares. */
export function measuredOf(certificate: Certificate, trusted: boolean): Measured {
  const { auditor, key, attack } = certificate;
  return {
    auditor,
    key,
    attack,
    trusted,
    auc: certificate.auc / MILLION,
    low: certificate.auc_low / MILLION,
    high: certificate.auc_high / MILLION,
    nullLow: certificate.null_low / MILLION,
    nullHigh: certificate.null_high / MILLION,
    adversary: certificate.adversary,
    panel: certificate.panel ?? 0,
    outsiders: certificate.outsiders ?? 0,
    named: certificate.named === undefined ? undefined : certificate.named / MILLION,
  };
}

/** Recommendations with their titles. */
export function recommendedOf(ranked: readonly Recommendation[], titles: Titles): Recommended[] {
  return ranked.map(({ item, shown, deviation }) => ({ title: titles.of(item), shown, deviation }));
}

/**
 * Rank again for another cell, with the scores at hand; null is none, in the clear.
 *
 * Asking the service again would show it that she changed her category.
 */
export function reranked(
  ranked: readonly Recommendation[],
  disclosure: Disclosure,
  before: number | null,
  now: number | null,
): Recommendation[] {
  const offsets = correction(disclosure);
  const { low, high } = disclosure.scale;
  const changed = ranked.map((recommendation) => {
    const offset = offsets[disclosure.index.get(recommendation.item) ?? 0];
    const of = (cell: number | null) => (cell === null ? 0 : offset[cell]);
    const score = recommendation.score - of(before) + of(now);
    return { ...recommendation, score, shown: Math.min(Math.max(score, low), high) };
  });
  return changed.sort((a, b) => b.score - a.score || (a.item < b.item ? -1 : 1));
}
