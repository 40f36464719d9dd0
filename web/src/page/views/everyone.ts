/** For somebody who says no category: the best titles for everyone, or ratings in the clear. */

import { el, fill, say } from "../controls/dom";
import type { Actions } from "../model/actions";
import type { Model } from "../model/model";
import { texts } from "../texts";
import { secretOf } from "./welcome";

/** What is left without a category, each said plainly; nothing is sent before she agrees. */
export function everyoneView(actions: Actions) {
  const words = texts.none;
  const why = el("p");
  const clear = el("p");
  const list = el("ol", { class: "everyone" });
  const agree = el("input", { type: "checkbox" });
  const go = el(
    "button",
    {
      type: "button",
      class: "button",
      disabled: true,
      on: { click: () => actions.goInTheClear() },
    },
    words.go,
  );
  agree.addEventListener("change", () => {
    go.disabled = !agree.checked;
  });
  const element = el(
    "div",
    { class: "stack" },
    el(
      "section",
      { class: "card stack" },
      el("h1", { id: "everyone-title", tabindex: -1 }, texts.welcome.none),
      why,
      el(
        "button",
        { type: "button", class: "button", on: { click: () => actions.sayNone(false) } },
        words.back,
      ),
    ),
    el(
      "section",
      { class: "card stack" },
      el("h2", {}, words.everyone),
      el("p", {}, words.everyoneLead),
      list,
    ),
    el(
      "section",
      { class: "card stack" },
      el("h2", {}, words.clear),
      clear,
      el("label", { class: "check" }, agree, ` ${words.agree}`),
      go,
    ),
  );
  let drawn: Model["everyone"] = null;
  return {
    element,
    update({ everyone, features, phase }: Model): void {
      const secret = secretOf(features);
      say(why, words.why(secret));
      say(clear, words.clearLead(secret));
      if (phase !== "everyone") agree.checked = false;
      go.disabled = !agree.checked;
      if (drawn === everyone) return;
      drawn = everyone;
      fill(
        list,
        ...(everyone ?? []).map(({ name, year }) =>
          el("li", {}, el("bdi", {}, name), ` ${year}`.trimEnd()),
        ),
      );
    },
  };
}
