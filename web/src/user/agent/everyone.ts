/** The best titles for everyone, from what is published alone: for somebody who sends nothing. */
import type { Standing } from "./standing";

/** Ratings at the mean of all that each title is given besides its own: few ratings say little. */
const DAMPING = 25;

/**
 * Return the items, best first, by their mean over all categories, or by how many rate them.
 *
 * score_j = (n_j m_j + 25 m) / (n_j + 25): m_j is the mean of the item's disclosed levels over the
 * categories, n_j how many people rated it in training, and m the mean of all m_j. Where a scheme
 * discloses no levels, the most rated come first. Ties go by how many rated them, then by item.
 */
export function bestForEveryone({ accepted, popularity }: Standing): string[] {
  const { items, levels, scale } = accepted.disclosure;
  const n = items.map((item) => popularity.get(item) ?? 0);
  let score: readonly number[] = n;
  const points = scale.levels;
  if (levels && points) {
    const means = levels.map(
      (rows) =>
        rows
          .map((row) => row.reduce((sum, mass, l) => sum + mass * points[l], 0))
          .reduce((a, b) => a + b, 0) / rows.length,
    );
    const mean = means.reduce((a, b) => a + b, 0) / means.length;
    score = means.map((own, j) => (n[j] * own + DAMPING * mean) / (n[j] + DAMPING));
  }
  const order = items.map((_, j) => j);
  order.sort((a, b) => score[b] - score[a] || n[b] - n[a] || a - b);
  return order.map((j) => items[j]);
}
