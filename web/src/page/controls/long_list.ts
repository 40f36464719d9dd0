/** A long list of rows of equal height, of which only those near the screen exist. */

import { el, keyed, set } from "./dom";

const BEYOND = 10;

export interface Row<T> {
  readonly element: HTMLElement;
  update(item: T): void;
  focus(): void;
}

/** The rows scroll with the page; a row that holds the focus stays. */
export class LongList<T> {
  readonly element = el("ul", { class: "titles" });
  #items: readonly T[] = [];
  #height = 0;
  #indices = new Map<string, number>();
  readonly #elements = new Map<string, HTMLElement>();
  /** Where each row was put last. */
  readonly #spots = new WeakMap<HTMLElement, string>();
  readonly #rows = new WeakMap<HTMLElement, Row<T>>();
  readonly #key: (item: T) => string;
  readonly #make: (item: T) => Row<T>;
  #asked = 0;

  constructor(key: (item: T) => string, make: (item: T) => Row<T>) {
    this.#key = key;
    this.#make = make;
    addEventListener("scroll", () => this.#soon(), { passive: true });
    new ResizeObserver(() => this.#measure()).observe(this.element);
  }

  /** Show these; the same row objects are kept for the same keys. */
  show(items: readonly T[]): void {
    if (items !== this.#items) {
      this.#items = items;
      this.#indices = new Map(items.map((item, index) => [this.#key(item), index]));
    }
    this.#draw();
  }

  /** Move the focus to a row, by its key and a number of steps; false at an end. */
  move(from: string, steps: number): boolean {
    const index = this.#indices.get(from);
    const next = index === undefined ? undefined : this.#items[index + steps];
    if (index === undefined || next === undefined) return false;
    this.#bring(index + steps);
    const element = this.#elements.get(this.#key(next));
    if (element) this.#rows.get(element)?.focus();
    return element !== undefined;
  }

  /** Bring a row onto the screen, clear of the bars at the top and the bottom. */
  #bring(index: number): void {
    const top = this.element.getBoundingClientRect().top + index * this.#height;
    const margin = this.#height * 2;
    if (top < margin) scrollBy({ top: top - margin });
    else if (top + this.#height > innerHeight - margin) {
      scrollBy({ top: top + this.#height - innerHeight + margin });
    }
    this.#draw();
  }

  #measure(): void {
    const first = this.element.firstElementChild;
    const height = first instanceof HTMLElement ? first.offsetHeight : 0;
    if (height !== this.#height && height > 0) {
      this.#height = height;
      this.#draw();
    }
  }

  #soon(): void {
    if (this.#asked === 0) this.#asked = requestAnimationFrame(() => this.#draw());
  }

  #draw(): void {
    cancelAnimationFrame(this.#asked);
    this.#asked = 0;
    const height = this.#height || 60;
    const top = -this.element.getBoundingClientRect().top;
    const start = Math.max(0, Math.floor(top / height) - BEYOND);
    const end = Math.min(this.#items.length, Math.ceil((top + innerHeight) / height) + BEYOND);
    this.element.style.height = `${this.#items.length * height}px`;
    keyed(
      this.element,
      this.#elements,
      this.#wanted(start, end),
      (index) => this.#key(this.#items[index]!),
      (index) => this.#made(this.#items[index]!),
      (element, index) => this.#put(element, index, height),
    );
    if (this.#height === 0 && this.#items.length > 0) this.#measure();
  }

  #wanted(start: number, end: number): number[] {
    const wanted: number[] = [];
    for (let index = start; index < end; index++) wanted.push(index);
    const focused = [...this.#elements].find(([, row]) => row.contains(document.activeElement));
    const index = focused === undefined ? undefined : this.#indices.get(focused[0]);
    if (index === undefined || (index >= start && index < end)) return wanted;
    return index < start ? [index, ...wanted] : [...wanted, index];
  }

  #made(item: T): HTMLElement {
    const row = this.#make(item);
    this.#rows.set(row.element, row);
    return row.element;
  }

  #put(element: HTMLElement, index: number, height: number): void {
    const at = `${index} ${height} ${this.#items.length}`;
    if (this.#spots.get(element) !== at) {
      this.#spots.set(element, at);
      element.style.transform = `translateY(${index * height}px)`;
      set(element, "aria-posinset", index + 1);
      set(element, "aria-setsize", this.#items.length);
    }
    this.#rows.get(element)?.update(this.#items[index]!);
  }
}
