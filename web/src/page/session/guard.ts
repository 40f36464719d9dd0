/** Runs what may fail, and shows what went wrong. */

import type { Notice, Shown } from "../model/model";
import { failureOf } from "./failures";
import type { Retries } from "./retries";

export class Guard {
  readonly #shown: Shown;
  readonly #retries: Retries;
  readonly #isOpen: () => boolean;

  constructor(shown: Shown, retries: Retries, isOpen: () => boolean) {
    this.#shown = shown;
    this.#retries = retries;
    this.#isOpen = isOpen;
  }

  /** Run something; true if nothing went wrong. */
  async run(work: () => Promise<unknown>): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      const failure = failureOf(error, this.#isOpen());
      if (failure.kind === "away") this.#away();
      else if (failure.kind === "note") this.note(failure.notice);
      else this.#shown.change({ phase: "refused", refusal: failure.refusal, away: false });
      return false;
    }
  }

  /** Show a notice, once. */
  note(notice: Notice): void {
    const { notices } = this.#shown.model;
    if (!notices.includes(notice)) this.#shown.change({ notices: [...notices, notice] });
  }

  #away(): void {
    this.#shown.change({ away: true });
    this.#retries.failed();
  }
}
