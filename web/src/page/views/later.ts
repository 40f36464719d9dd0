/** Views that are not needed at first: loaded when the first check is done, so that she waits less. */

import { el, fill } from "../controls/dom";
import type { Actions } from "../model/actions";
import type { Model } from "../model/model";
import { texts } from "../texts";

type Rest = typeof import("./rest");

/** Something that is drawn from the model. */
export interface Part {
  readonly element: HTMLElement;
  update(model: Model): void;
}

let loading: Promise<Rest> | null = null;

/** Load them, once; what failed is tried again. */
function load(): Promise<Rest> {
  loading ??= import("./rest").catch((error: unknown) => {
    loading = null;
    throw error;
  });
  return loading;
}

/** Do with them what she asked for; it is said if they cannot be loaded. */
export function withRest(actions: Actions, use: (rest: Rest) => void): void {
  load().then(use, () => actions.announce(texts.notices.away));
}

/** Do something once they are there; `failed` hears if they are not, and may try again. */
export function onceLoaded(use: (rest: Rest) => void, failed: () => void): void {
  load().then(use, failed);
}

/** A view as soon as it is loaded; until then its title, which has the name in its id. */
export function later(
  name: "everyone" | "foryou" | "ledger",
  title: string,
  present: () => Model,
  made: (rest: Rest) => Part,
): Part {
  const id = `${name}-title`;
  const element = el("div", {}, el("h2", { id, tabindex: -1 }, title));
  let view: Part | null = null;
  let asked = false;
  return {
    element,
    update(model: Model): void {
      view?.update(model);
      const wanted = model.view === name || model.head !== null || model.phase === "refused";
      if (view || asked || !wanted) return;
      asked = true;
      onceLoaded(
        (rest) => {
          view = made(rest);
          const here = element.contains(document.activeElement);
          fill(element, view.element);
          view.update(present());
          // Somebody who was led here before it was there is led to its title.
          if (here) document.getElementById(id)?.focus();
        },
        () => {
          asked = false;
        },
      );
    },
  };
}
