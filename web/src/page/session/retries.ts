/** Further looks at a service that is away, less and less often. */

/** Seconds until the next look. */
const WAITS = [2, 4, 8, 15, 30];

/** Looks again by itself. */
export class Retries {
  readonly #again: () => void;
  #failures = 0;
  #timer = 0;

  constructor(again: () => void) {
    this.#again = again;
  }

  /** It was away: look again in a while. */
  failed(): void {
    const wait = WAITS[Math.min(this.#failures, WAITS.length - 1)];
    this.#failures += 1;
    clearTimeout(this.#timer);
    this.#timer = window.setTimeout(this.#again, wait * 1000);
  }

  /** Somebody looks already. */
  stop(): void {
    clearTimeout(this.#timer);
  }

  /** It answered; true if it was away before. */
  succeeded(): boolean {
    const wasAway = this.#failures > 0;
    this.#failures = 0;
    return wasAway;
  }
}
