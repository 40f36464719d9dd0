/** Part 4: what leaves this device, title by title, with the reason and the exact bytes. */

import { el, fill, keyed, say, set } from "../controls/dom";
import { spoken } from "../controls/rating";
import { plain } from "../controls/scale";
import type { Actions } from "../model/actions";
import type { Line, Model } from "../model/model";
import { texts } from "../texts";

const AT_FIRST = 5;

/** The card that lists what would be sent, and sends it. */
export function leavesView(actions: Actions, present: () => Model) {
  let all = false;
  const rows = new Map<string, HTMLElement>();
  const summary = el("p", { class: "soft" });
  const list = el("ul", { class: "leaving" });
  const more = el("button", {
    type: "button",
    class: "link",
    on: {
      click: () => {
        all = !all;
        update(present());
      },
    },
  });
  const none = el(
    "button",
    { type: "button", class: "button wide", on: { click: () => actions.send() } },
    texts.leaves.sendNone,
  );
  const final = el("p", { class: "soft small" });
  const bytesLead = el("p", { class: "soft small" });
  const bytes = el("pre", { tabindex: 0, role: "region", "aria-label": texts.leaves.bytes });
  const exact = el(
    "details",
    { on: { toggle: () => update(present()) } },
    el("summary", {}, texts.leaves.bytes),
    bytesLead,
    bytes,
  );
  const element = el(
    "section",
    { class: "card stack", "aria-labelledby": "leaves-title" },
    el(
      "div",
      { class: "stack tight" },
      el("h2", { id: "leaves-title", tabindex: -1 }, texts.leaves.title),
      summary,
    ),
    list,
    more,
    none,
    final,
    exact,
  );

  function update(model: Model): void {
    const lines = [...model.lines].reverse();
    const withheld = lines.filter(({ sent }) => sent === null).length;
    const empty = lines.length === 0;
    say(
      summary,
      empty
        ? model.draft.size > 0
          ? texts.leaves.pending
          : texts.leaves.empty
        : `${texts.leaves.summary(lines.length - withheld, withheld)} ${texts.leaves.lead}`,
    );
    list.hidden = empty;
    keyed(
      list,
      rows,
      all ? lines : lines.slice(0, AT_FIRST),
      ({ title }) => title.item,
      () => el("li"),
      (row, line) => showLine(row, line, model.levels),
    );
    more.hidden = lines.length <= AT_FIRST;
    say(more, all ? texts.leaves.fewer : texts.leaves.more(lines.length - AT_FIRST));
    none.hidden = !empty || !model.hasRound;
    none.disabled = model.working !== null || model.pending || model.unchecked;
    final.hidden = empty;
    say(final, texts.leaves.final(model.inTheClear));
    exact.hidden = empty;
    set(element, "aria-busy", model.pending ? "true" : null);
    if (exact.open) showBytes(model);
  }

  function showBytes(model: Model): void {
    const length = new TextEncoder().encode(model.bytes).length;
    say(bytesLead, model.pending ? texts.leaves.pending : texts.leaves.bytesLead(length));
    say(bytes, model.pending ? "" : model.bytes);
  }

  return { element, update };
}

const drawn = new WeakMap<HTMLElement, Line>();

function showLine(row: HTMLElement, line: Line, levels: readonly number[]): void {
  if (drawn.get(row) === line) return;
  drawn.set(row, line);
  fill(
    row,
    el("bdi", { class: "name" }, line.title.name),
    passage(line.yours, line.sent, levels),
    el("span", { class: "why" }, line.was === undefined ? line.why : `${since(line)} ${line.why}`),
  );
}

/** What was said of it before, and why that changed. */
function since({ was }: Line): string {
  const { wasSent, wasWithheld } = texts.leaves.why;
  return typeof was === "number" ? wasSent(plain(was)) : wasWithheld;
}

/** "4 → 3", or "4 → withheld", said in words to who listens. */
export function passage(
  yours: number | null,
  sent: number | null,
  levels: readonly number[],
): HTMLElement {
  const { withheld, asSent } = texts.leaves;
  const sets = levels.length === 1;
  const out = sent === null ? withheld : sets ? asSent : plain(sent);
  const said = [
    yours === null ? "" : `${texts.leaves.yours} ${spoken(levels, yours)},`,
    sent === null || sets ? out : `${texts.leaves.sent} ${spoken(levels, sent)}`,
  ].join(" ");
  return el(
    "span",
    { class: "passage" },
    el("span", { class: "unseen" }, said),
    el(
      "span",
      { "aria-hidden": "true" },
      yours === null ? "" : sets ? spoken(levels, yours) : plain(yours),
    ),
    el("span", { class: "arrow", "aria-hidden": "true" }, "→"),
    el("span", { class: sent === null ? "in" : "out", "aria-hidden": "true" }, out),
  );
}
