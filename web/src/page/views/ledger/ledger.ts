/** Part 7: everything ever sent or withheld; export; forget me. */

import { el, fill, saveFile, say } from "../../controls/dom";
import { plain } from "../../controls/scale";
import type { Actions } from "../../model/actions";
import type { Answered, Model } from "../../model/model";
import { texts } from "../../texts";
import { grouped } from "./certificates";
import { demandsCard } from "./demands";
import { deviceButton } from "./files";

/** The ledger card and what can be done with it. */
export function ledgerView(actions: Actions) {
  const lead = el("p", { class: "soft" });
  const rounds = el("div");
  const head = el("p", { class: "mono" });
  const waits = el("p", { class: "small" }, texts.ledger.superseded);
  const demands = demandsCard(actions);
  const mayGo = el("p", { class: "small" }, texts.ledger.mayGo);
  const element = el(
    "div",
    { class: "stack" },
    el(
      "section",
      { class: "card stack", "aria-labelledby": "ledger-title" },
      el(
        "div",
        { class: "stack tight" },
        el("h2", { id: "ledger-title", tabindex: -1 }, texts.ledger.title),
        lead,
      ),
      rounds,
      el(
        "div",
        { class: "row" },
        el(
          "button",
          { type: "button", class: "button", on: { click: () => save(actions) } },
          texts.ledger.export,
        ),
        deviceButton(actions),
      ),
      el("p", { class: "soft small" }, texts.ledger.exportNote),
      mayGo,
    ),
    el(
      "section",
      { class: "card stack tight" },
      el("h3", {}, texts.ledger.service),
      head,
      waits,
      el("p", { class: "soft small" }, texts.ledger.serviceNote),
    ),
    demands.element,
    panelCard(actions),
    el(
      "section",
      { class: "card stack" },
      el("h3", {}, texts.ledger.forget),
      el("p", { class: "soft small" }, texts.ledger.forgetNote),
      el(
        "div",
        { class: "row" },
        el(
          "button",
          { type: "button", class: "button danger", on: { click: () => forgetDialog(actions) } },
          texts.ledger.forget,
        ),
      ),
    ),
  );
  let seen: Model["ledger"] | null = null;
  return {
    element,
    update(model: Model): void {
      say(
        head,
        model.head ? texts.ledger.entry(model.head.sequence, grouped(model.head.digest)) : "",
      );
      waits.hidden = !model.head?.superseded;
      demands.update(model);
      mayGo.hidden = model.lasting !== false;
      if (seen === model.ledger) return;
      seen = model.ledger;
      say(lead, seen.length === 0 ? texts.ledger.empty : texts.ledger.lead);
      fill(
        rounds,
        ...[...seen].reverse().map((answered, i) => entry(answered, i === 0, model.levels)),
      );
    },
  };
}

/** The panel: what it means to join is read when she opens it, and nothing is sent before. */
function panelCard(actions: Actions): HTMLElement {
  const part = el("div", { class: "stack", "aria-live": "polite" });
  const card = el(
    "details",
    { class: "card stack", id: "panel" },
    el("summary", {}, texts.panel.open),
    part,
  );
  card.addEventListener("toggle", () => {
    if (card.open) void actions.panel(part);
  });
  return card;
}

/** Save the ledger as a file of hers. */
export function save(actions: Actions): void {
  saveFile("midpoint-ledger.json", actions.exported());
  actions.announce(texts.ledger.exported);
}

function entry(answered: Answered, open: boolean, levels: readonly number[]): HTMLElement {
  const withheld = answered.decided.filter(({ sent }) => sent === null).length;
  const counts = texts.ledger.counts(answered.decided.length - withheld, withheld);
  return el(
    "details",
    { class: "entry", open },
    el(
      "summary",
      {},
      el("span", {}, texts.ledger.round(answered.number)),
      el(
        "span",
        { class: "soft small" },
        answered.delivered ? counts : `${counts}, ${texts.ledger.waiting}`,
      ),
    ),
    answered.decided.length > 0 && table(answered, levels),
    el(
      "details",
      {},
      el("summary", { class: "small" }, texts.ledger.bytes),
      el("pre", { tabindex: 0, role: "region", "aria-label": texts.ledger.bytes }, answered.bytes),
    ),
  );
}

function table(answered: Answered, levels: readonly number[]): HTMLElement {
  const { withheld, columns } = texts.ledger;
  const { title, yours, sent } = columns;
  const written = (value: number, mark: string) => (levels.length === 1 ? mark : plain(value));
  return el(
    "table",
    {},
    el(
      "thead",
      {},
      el(
        "tr",
        {},
        el("th", { scope: "col" }, title),
        el("th", { scope: "col" }, yours),
        el("th", { scope: "col" }, sent),
      ),
    ),
    el(
      "tbody",
      {},
      ...answered.decided.map((line) =>
        el(
          "tr",
          {},
          el("td", {}, el("bdi", {}, line.title.name)),
          el("td", {}, line.yours === null ? "" : written(line.yours, texts.rate.marked)),
          el("td", {}, line.sent === null ? withheld : written(line.sent, texts.leaves.asSent)),
        ),
      ),
    ),
  );
}

/** Ask once more, then forget; the dialog stays while the service is away. */
export function forgetDialog(actions: Actions): void {
  const problem = el(
    "p",
    { class: "problem", role: "alert", hidden: true },
    texts.ledger.forgetAway,
  );
  const yes = el("button", { type: "button", class: "button danger" }, texts.ledger.forgetYes);
  const no = el("button", { type: "button", class: "button" }, texts.ledger.forgetNo);
  const dialog = el(
    "dialog",
    { "aria-labelledby": "forget-title" },
    el(
      "div",
      { class: "stack" },
      el("h2", { id: "forget-title" }, texts.ledger.forgetTitle),
      el("p", {}, texts.ledger.forgetBody),
      el("p", {}, texts.ledger.forgetAgain),
      problem,
      el("div", { class: "row" }, yes, no),
    ),
  );
  no.addEventListener("click", () => dialog.close());
  yes.addEventListener("click", async () => {
    yes.disabled = true;
    say(yes, texts.ledger.forgetting);
    const done = await actions.forget();
    yes.disabled = false;
    say(yes, texts.ledger.forgetYes);
    problem.hidden = done;
    if (done) dialog.close();
  });
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  no.focus();
}
