/** Warnings above the page, the refusal screen and the waiting screen. */

import { el, fill, keyed } from "../controls/dom";
import { icons } from "../controls/icons";
import type { Actions } from "../model/actions";
import type { Demands, Model, Notice } from "../model/model";
import { ELSEWHERE } from "../session/failures";
import { texts } from "../texts";
import { withRest } from "./later";
import { deviceButton } from "./ledger/files";

/** Refusals of a change that may be meant: she may agree to it, and stay who she is. */
const CHANGES = new Set(["key_changed", "features_changed", "scale_changed", "scheme_changed"]);

/** Refusals by what she demands herself, which she may change. */
const DEMANDED = new Set([
  "not_certified",
  "not_witnessed",
  "witness_changed",
  "witness_disagrees",
  "leak_too_large",
]);

type Shown = Notice | "away";

/** The warnings that stand at present. */
export function noticesView(actions: Actions) {
  const element = el("div", { class: "notices", role: "status" });
  const rows = new Map<string, HTMLElement>();
  const button = (text: string, action: () => void) =>
    el("button", { type: "button", class: "button", on: { click: action } }, text);
  const load = () => button(texts.notices.storageAgain, () => actions.useHere());
  const remedies: Partial<Record<Shown, () => HTMLElement[]>> = {
    away: () => [button(texts.notices.awayNow, () => actions.again())],
    otherTab: () => [button(texts.notices.otherTabUse, () => actions.useHere())],
    storage: () => [load()],
    noOpening: () => [load(), button(texts.notices.noOpeningAgree, () => actions.withoutStorage())],
    badStorage: () => [button(texts.notices.startOver, () => actions.startOver())],
    notErased: () => [button(texts.notices.notErasedHere, () => actions.startOver(true))],
    forgetting: () => [button(texts.notices.forgettingNow, () => actions.again())],
    moved: () => [deviceButton(actions)],
  };
  return {
    element,
    update(model: Model): void {
      const shown: Shown[] = [...(model.away ? (["away"] as const) : []), ...model.notices];
      keyed(
        element,
        rows,
        shown,
        (name) => name,
        (name) =>
          el(
            "div",
            { class: "notice" },
            el("p", {}, texts.notices[name]),
            ...(remedies[name]?.() ?? []),
          ),
        () => {},
      );
    },
  };
}

/** What is shown when the service fails a check. */
export function refusedView(actions: Actions) {
  const element = el("section", { class: "card refused", role: "alert" });
  let seen: Model["refusal"] = null;
  let present: Model | null = null;
  return {
    element,
    update(model: Model): void {
      present = model; // what she demands may change while the same refusal stands
      if (seen === model.refusal || !model.refusal) return;
      seen = model.refusal;
      const { code, sentence, ours } = seen;
      const { title, calm, titleTheirs, calmTheirs } = texts.refused;
      fill(
        element,
        el("h1", { tabindex: -1 }, ours ? title : titleTheirs),
        el("p", {}, el("strong", {}, ours ? calm : calmTheirs)),
        el("h2", {}, texts.refused.what),
        el("p", {}, texts.refused.reasons[code] ?? texts.refused.otherwise),
        el("p", { class: "small soft" }, sentence),
        el("p", { class: "mono" }, texts.refused.code(code)),
        el("h2", {}, texts.refused.next),
        el("p", {}, code === ELSEWHERE ? texts.refused.nextElsewhere : texts.refused.nextUsual),
        CHANGES.has(code) && el("p", {}, texts.refused.nextChanged),
        code === "rated_shown" && el("p", {}, texts.refused.nextShown),
        el(
          "div",
          { class: "row" },
          el(
            "button",
            { type: "button", class: "button main", on: { click: () => actions.again() } },
            texts.refused.again,
          ),
          DEMANDED.has(code) &&
            el(
              "button",
              {
                type: "button",
                class: "button",
                on: {
                  click: () =>
                    withRest(actions, (rest) => present && rest.demandsDialog(present, actions)),
                },
              },
              texts.notices.demands,
            ),
          code === "rated_shown" &&
            model.demands &&
            el(
              "button",
              { type: "button", class: "button", on: { click: agree(model.demands, actions) } },
              texts.refused.agree,
            ),
          CHANGES.has(code) &&
            el(
              "button",
              { type: "button", class: "button", on: { click: () => actions.accept() } },
              texts.refused.accept,
            ),
          el(
            "button",
            {
              type: "button",
              class: "button",
              on: { click: () => withRest(actions, ({ save }) => save(actions)) },
            },
            texts.ledger.export,
          ),
          el(
            "button",
            {
              type: "button",
              class: "button danger",
              on: { click: () => withRest(actions, (rest) => rest.forgetDialog(actions)) },
            },
            texts.ledger.forget,
          ),
        ),
      );
    },
  };
}

/** Take a scheme that does not hide which titles she rates, because she agrees. */
function agree(demands: Demands, actions: Actions): () => void {
  return () => actions.demand({ ...demands, showRated: true });
}

/** What is shown before the first check is done. */
export function openingView(): HTMLElement {
  return el("section", { class: "opening" }, icons.brand(), el("p", {}, texts.opening));
}
