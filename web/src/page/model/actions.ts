import type { RequireOnlyOne, Store } from "../../index";
import type { Demands } from "./model";

/** What a person can do on the page; views call these and nothing else. */
export interface Actions {
  /** Choose her category of each feature, by name; it stays in this browser. */
  choose(names: Readonly<Record<string, string>>): void;
  /** Say no category, and see what is left: the best titles for everyone; false leads back. */
  sayNone(none: boolean): void;
  /** Rate without a category, because she agrees that nothing is protected; until the page closes. */
  goInTheClear(): void;
  /** Rate a title, or take the rating back with null. */
  rate(item: string, value: number | null): void;
  /** Take back the last change of a rating; returns the item, or null if there is none. */
  undo(): string | null;
  /** Make the present decisions final and send the one report. */
  send(): void;
  /** Look at the service again: after a refusal, or when it was away. */
  again(): void;
  /** The ledger as the text of a file. */
  exported(): string;
  /** Do something with all that is kept about the service at this address, as to make a file of it. */
  withStore<T>(
    work: (store: Store, address: string, requireOnlyOne?: RequireOnlyOne) => Promise<T>,
  ): Promise<T>;
  /** Erase at the service, then here. */
  forget(): Promise<boolean>;
  /** Draw the part about the panel into an element, loaded when she opens it. */
  panel(element: HTMLElement): Promise<void>;
  /** Confirm an auditor's key, or withdraw that. */
  trust(key: string, trusted: boolean): void;
  /** Change what she demands of the service, and check it again. */
  demand(demands: Demands): void;
  /** Take over from another tab. */
  useHere(): void;
  /** Hold the service to what it shows now, because she agrees; secret and ledger stay. */
  accept(): void;
  /** Go on although nothing can be kept, because she agrees. */
  withoutStorage(): void;
  /** Erase at the service and here, when what is kept cannot be read any more; or here only. */
  startOver(onlyHere?: boolean): void;
  /** Say something in the live region, and show it; with undo if that makes sense. */
  announce(text: string, withUndo?: boolean): void;
}
