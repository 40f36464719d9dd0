/** A long list of rows of equal height, of which only those near the screen exist. */

import { el, keyed, set } from "./dom";

const BEYOND = 10;

export interface Row<T> {
  readonly element: HTMLElement;
  update(one: T): void;
  focus(): void;
}

/** The rows scroll with the page; a row that holds the focus stays. */
export class Windowed<T> {
  readonly element = el("ul", { class: "titles" });
  #items: readonly T[] = [];
  #height = 0;
  #places = new Map<string, number>();
  readonly #elements = new Map<string, HTMLElement>();
  readonly #rows = new WeakMap<HTMLElement, Row<T>>();
  readonly #key: (one: T) => string;
  readonly #make: (one: T) => Row<T>;
  #asked = 0;

  constructor(key: (one: T) => string, make: (one: T) => Row<T>) {
    this.#key = key;
    this.#make = make;
    addEventListener("scroll", () => this.#soon(), { passive: true });
    new ResizeObserver(() => this.#measure()).observe(this.element);
  }

  /** Show these; the same row objects are kept for the same keys. */
  show(items: readonly T[]): void {
    if (items !== this.#items) {
      this.#items = items;
      this.#places = new Map(items.map((one, place) => [this.#key(one), place]));
    }
    this.#draw();
  }

  /** Move the focus to a row, by its key and a number of steps; false at an end. */
  move(from: string, steps: number): boolean {
    const place = this.#places.get(from);
    const next = place === undefined ? undefined : this.#items[place + steps];
    if (place === undefined || next === undefined) return false;
    this.#bring(place + steps);
    const element = this.#elements.get(this.#key(next));
    if (element) this.#rows.get(element)?.focus();
    return element !== undefined;
  }

  /** Bring a row onto the screen, clear of the bars at the top and the bottom. */
  #bring(place: number): void {
    const top = this.element.getBoundingClientRect().top + place * this.#height;
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
      (place) => this.#key(this.#items[place]!),
      (place) => this.#made(this.#items[place]!),
      (element, place) => this.#put(element, place, height),
    );
    if (this.#height === 0 && this.#items.length > 0) this.#measure();
  }

  #wanted(start: number, end: number): number[] {
    const wanted: number[] = [];
    for (let place = start; place < end; place++) wanted.push(place);
    const focused = [...this.#elements].find(([, row]) => row.contains(document.activeElement));
    const place = focused === undefined ? undefined : this.#places.get(focused[0]);
    if (place === undefined || (place >= start && place < end)) return wanted;
    return place < start ? [place, ...wanted] : [...wanted, place];
  }

  #made(one: T): HTMLElement {
    const row = this.#make(one);
    this.#rows.set(row.element, row);
    return row.element;
  }

  #put(element: HTMLElement, place: number, height: number): void {
    element.style.transform = `translateY(${place * height}px)`;
    set(element, "aria-posinset", place + 1);
    set(element, "aria-setsize", this.#items.length);
    this.#rows.get(element)?.update(this.#items[place]!);
  }
}
