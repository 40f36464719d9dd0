/** Her ratings of the present round, and what would leave of them. */

import type { Home, PrivateCategory } from "../../index";
import type { Line, Shown } from "../model/model";
import { loadGuesses, type Picture } from "../model/picture";
import { Drafts } from "./drafts";
import type { BrowserStorage } from "./storage";

/** Milliseconds after which a change was drawn. */
const PAINTED = 16;

export class Preview {
  readonly #shown: Shown;
  readonly #storage: BrowserStorage;
  #drafts = new Drafts(new Map());
  /** How often what would leave had to be worked out. */
  #changes = 0;
  /** What was first said of each rating, as long as it stands. */
  #said = new Map<string, Line>();

  constructor(shown: Shown, storage: BrowserStorage) {
    this.#shown = shown;
    this.#storage = storage;
  }

  /** The ratings as they stand. */
  get ratings(): ReadonlyMap<string, number> {
    return this.#drafts.ratings;
  }

  /** Begin with what she rated before and did not send; with nothing where there is no home. */
  begin(home?: Home): void {
    this.#drafts = new Drafts(home ? ratingsOf(home, true) : new Map());
    this.#said.clear();
  }

  /** What is being worked out is of no use any more. */
  stop(): void {
    this.#changes++;
  }

  /** Rate, or clear with null; false if that changes nothing. */
  rate(item: string, value: number | null): boolean {
    return this.#drafts.set(item, value);
  }

  /** Take the last change back; returns the item, or null if there is none. */
  undo(): string | null {
    return this.#drafts.undo();
  }

  /** Keep her ratings, unless a later one is about to be kept with them. */
  async keep(home: Home): Promise<void> {
    const { ratings } = this;
    await this.#storage.inTurn(async () => {
      if (ratings !== this.ratings) return;
      await home.keepRatings(new Map([...ratingsOf(home, false), ...ratings]));
    });
  }

  /**
   * Show her ratings at once, and what would leave when it is worked out, a step at a time.
   *
   * True when it is shown; false if another change came meanwhile, which then shows it.
   */
  async show(category: PrivateCategory | undefined, picture: Picture | null): Promise<boolean> {
    const changes = ++this.#changes;
    const draft = this.ratings;
    if (this.#shown.model.titles) this.#shown.change({ draft, pending: true });
    if (!category || !picture) return false;
    await painted();
    await loadGuesses();
    if (changes !== this.#changes) return false;
    for (const _ of picture.ahead(draft, category)) {
      await turn();
      if (changes !== this.#changes) return false;
    }
    const preview = picture.preview(draft, category);
    this.#shown.change({ ...preview, lines: this.#compared(preview.lines ?? []) });
    return true;
  }

  /** Say what was said before where that changed: her other ratings show better who is like her. */
  #compared(lines: readonly Line[]): Line[] {
    const said = new Map<string, Line>();
    const compared = lines.map((line) => {
      const { item } = line.title;
      const before = this.#said.get(item);
      const first = before?.yours === line.yours ? before : line;
      said.set(item, first);
      return first.sent === line.sent ? line : { ...line, was: first.sent };
    });
    this.#said = said;
    return compared;
  }
}

/** Wait until a change was drawn. */
export function painted(): Promise<void> {
  return turn(PAINTED);
}

/** Let the browser do what waits, such as drawing and the next tap. */
function turn(milliseconds = 0): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** Her ratings without a decision yet, or those with one. */
function ratingsOf({ ratings, ledger }: Home, open: boolean): Map<string, number> {
  return new Map([...ratings].filter(([item]) => (ledger.decision(item) === undefined) === open));
}
