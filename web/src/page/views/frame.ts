/** The frame around the parts: header, navigation, live region, the bar that leads to sending. */

import { el, fill, say, set } from "../controls/dom";
import { icons } from "../controls/icons";
import type { Actions } from "../model/actions";
import type { Model, Phase, View } from "../model/model";
import { texts } from "../texts";
import { gaugesView } from "./gauges";
import { later, withRest } from "./later";
import { leavesView } from "./leaves";
import { noticesView, openingView, refusedView } from "./notices";
import { rateView } from "./rate";
import { secretOf, welcomeView } from "./welcome";

const WIDE = matchMedia("(min-width: 60rem)");
const VIEWS: readonly View[] = ["rate", "leaves", "foryou", "ledger"];

/** The view that an address asks for; anything unknown is the first. */
export function viewOf(hash: string): View {
  return VIEWS.find((view) => `#${view}` === hash) ?? "rate";
}

/** Put everything together; the returned function draws a model. */
export function frame(root: HTMLElement, actions: Actions, present: () => Model) {
  const rate = rateView(actions, present);
  const parts = {
    rate,
    leaves: leavesView(actions, present),
    gauges: gaugesView(actions),
    foryou: later("foryou", texts.foryou.title, present, (rest) =>
      rest.forYouView(actions, present),
    ),
    ledger: later("ledger", texts.ledger.title, present, (rest) => rest.ledgerView(actions)),
    welcome: welcomeView(actions),
    everyone: later("everyone", texts.welcome.none, present, (rest) => rest.everyoneView(actions)),
    refused: refusedView(actions),
    notices: noticesView(actions),
  };
  const nav = navigation(present().site.sets);
  const chip = el("button", {
    type: "button",
    class: "chip",
    on: { click: () => withRest(actions, (rest) => rest.changeDialog(present(), actions)) },
  });
  const main = el("div", { class: "main stack" });
  const side = el("div", { class: "side stack" }, parts.gauges.element, parts.leaves.element);
  const columns = el("div", { class: "columns" }, main, side);
  const bar = sendBar(actions);
  const content = el("main", { id: "content", tabindex: -1 });
  fill(
    root,
    el("a", { class: "skip", href: "#content" }, texts.skip),
    el(
      "div",
      { class: "frame" },
      el(
        "header",
        { class: "top" },
        el("span", { class: "brand" }, icons.brand(), texts.name),
        nav.element,
        chip,
      ),
      parts.notices.element,
      content,
    ),
  );
  const opening = openingView();
  let phase: Phase | null = null;
  let view: View | null = null;
  let features: Model["features"] | null = null;
  let inTheClear = false;

  function screen(model: Model): void {
    if (phase === model.phase) return;
    const first = phase === null || phase === "opening";
    phase = model.phase;
    const screens = {
      opening: [opening],
      refused: [parts.refused.element],
      welcome: [parts.welcome.element],
      everyone: [parts.everyone.element],
      ready: [el("h1", { class: "unseen", tabindex: -1 }, texts.name), columns, bar.element],
    };
    fill(content, ...screens[phase]);
    // A question about what is not shown any more would be about something else.
    for (const dialog of document.querySelectorAll("dialog")) dialog.close();
    if (!first) queueMicrotask(() => content.querySelector<HTMLElement>("h1, h2")?.focus());
  }

  function turn(model: Model): void {
    if (view === model.view) return;
    const first = view === null;
    view = model.view;
    set(columns, "data-view", view);
    document.title = `${texts.nav[view]} · ${texts.name}`;
    // On a wide screen what leaves stands beside another part.
    if (view !== "leaves") fill(main, parts[view].element);
    else if (!main.firstChild) fill(main, parts.rate.element);
    if (first) return;
    scrollTo({ top: 0 });
    side.scrollTop = 0;
    document.getElementById(`${view}-title`)?.focus({ preventScroll: true });
  }

  return (model: Model): void => {
    nav.element.hidden = model.phase !== "ready";
    chip.hidden = model.phase !== "ready";
    if (features !== model.features || inTheClear !== model.inTheClear) {
      ({ features, inTheClear } = model);
      const { unprotected, protected: named } = texts.welcome;
      const name = inTheClear ? unprotected : named(secretOf(features), features.length);
      fill(chip, !inTheClear && icons.lock(), name);
      set(chip, "aria-label", `${name}. ${texts.welcome.change}`);
    }
    screen(model);
    turn(model);
    nav.update(model);
    bar.update(model);
    for (const part of Object.values(parts)) part.update(model);
  };
}

function navigation(sets: boolean) {
  const badge = el("span", { class: "badge" });
  const links = VIEWS.map((view) =>
    el(
      "a",
      { href: `#${view}`, class: view === "leaves" ? "narrow" : "" },
      view === "rate" && sets ? icons.check() : icons[view](),
      texts.nav[view],
      view === "leaves" && badge,
    ),
  );
  return {
    element: el("nav", { class: "nav", "aria-label": texts.nav.label }, ...links),
    update(model: Model): void {
      // On a wide screen what leaves has no link of its own: it stands beside the others.
      const current = model.view === "leaves" && WIDE.matches ? "rate" : model.view;
      links.forEach((link, i) => {
        set(link, "aria-current", VIEWS[i] === current ? "page" : null);
      });
      badge.hidden = model.draft.size === 0;
      say(badge, String(model.draft.size));
    },
  };
}

/** At the bottom while there is something to send; on a phone it first leads to what leaves. */
function sendBar(actions: Actions) {
  const counted = el("span", { class: "small" });
  const send = el("button", {
    type: "button",
    class: "button main",
    on: { click: () => actions.send() },
  });
  const review = el("a", { class: "button main narrow-only", href: "#leaves" }, texts.rate.review);
  const element = el("div", { class: "sendbar" }, counted, review, send);
  return {
    element,
    update(model: Model): void {
      const withheld = model.lines.filter(({ sent }) => sent === null).length;
      element.hidden = model.lines.length === 0 || model.view === "ledger";
      const elsewhere = model.view !== "leaves";
      review.classList.toggle("narrow-only", elsewhere);
      review.hidden = !elsewhere;
      send.classList.toggle("wide-only", elsewhere);
      if (!model.pending) say(counted, texts.rate.rated(model.lines.length - withheld, withheld));
      say(send, model.working === "sending" ? texts.leaves.sending : texts.leaves.send);
      send.disabled = model.working !== null || model.pending || model.unchecked || !model.hasRound;
    },
  };
}

/** The live region: said to screen readers, shown for a moment, with undo where it helps. */
export function toast(undo: () => void) {
  const text = el("span", { "aria-hidden": "true" });
  const button = el("button", { type: "button", on: { click: undo } }, texts.rate.undo);
  const element = el("div", { class: "toast" }, text, button);
  element.hidden = true;
  // A live region must be there before it speaks.
  const live = el("div", { class: "unseen", role: "status", "aria-live": "polite" });
  document.body.append(live, element);
  let timer = 0;
  addEventListener("hashchange", () => {
    element.hidden = true;
  });
  return (sentence: string, withUndo: boolean): void => {
    say(live, sentence);
    say(text, sentence);
    button.hidden = !withUndo;
    element.hidden = false;
    clearTimeout(timer);
    timer = window.setTimeout(() => {
      element.hidden = true;
    }, 6000);
  };
}
