/** Ratings of the present round, with undo; the latest last. */
export class Drafts {
  #ratings: ReadonlyMap<string, number>;
  readonly #undone: { item: string; before: ReadonlyMap<string, number> }[] = [];

  constructor(ratings: ReadonlyMap<string, number>) {
    this.#ratings = ratings;
  }

  /** The ratings as they stand; a new map after each change. */
  get ratings(): ReadonlyMap<string, number> {
    return this.#ratings;
  }

  /** Rate, or clear with null; false if that changes nothing. */
  set(item: string, value: number | null): boolean {
    if ((this.#ratings.get(item) ?? null) === value) return false;
    this.#undone.push({ item, before: this.#ratings });
    const next = new Map(this.#ratings);
    next.delete(item);
    if (value !== null) next.set(item, value);
    this.#ratings = next;
    return true;
  }

  /** Take the last change back; returns the item, or null if there is none. */
  undo(): string | null {
    const last = this.#undone.pop();
    if (!last) return null;
    this.#ratings = last.before;
    return last.item;
  }
}
