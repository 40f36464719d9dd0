/** For somebody who says no category: the best titles for everyone. */

import type { Actions } from "../actions";
import { el, fill } from "../dom";
import type { Model } from "../model";
import { texts } from "../texts";

/** The best titles for everyone: nothing was said, and nothing is sent. */
export function everyoneView(actions: Actions) {
  const list = el("ol", { class: "everyone" });
  const element = el(
    "section",
    { class: "card stack", "aria-labelledby": "everyone-title" },
    el("h1", { id: "everyone-title", tabindex: -1 }, texts.welcome.everyone),
    el("p", { class: "soft" }, texts.welcome.everyoneLead),
    list,
    el(
      "button",
      { type: "button", class: "button", on: { click: () => actions.sayNone(false) } },
      texts.welcome.everyoneBack,
    ),
  );
  let drawn: Model["everyone"] = null;
  return {
    element,
    update({ everyone }: Model): void {
      if (drawn === everyone) return;
      drawn = everyone;
      fill(
        list,
        ...(everyone ?? []).map(({ name, year }) => el("li", {}, `${name} ${year}`.trim())),
      );
    },
  };
}
