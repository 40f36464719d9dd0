/** The part about the panel, loaded when she opens it: what joining means, joining, leaving. */

import {
  type Agent,
  isUnary,
  join,
  leave,
  membership,
  type PanelRatings,
  toShare,
} from "../../../index";
import { el, fill } from "../../controls/dom";
import { plain } from "../../controls/scale";
import type * as english from "../../languages/later/en";
import { categoryName, featureName, languageOf, listed, readByHer, tag, texts } from "../../texts";

const LANGUAGES = import.meta.glob<typeof english.panel>("../../languages/later/*.ts", {
  eager: true,
  import: "panel",
});
const words = languageOf(Object.values(LANGUAGES), readByHer());

/** Show whether she is in the panel, and let her join or leave; nothing is shared before she agrees. */
export async function panelPart(
  element: HTMLElement,
  agent: Agent,
  announce: (sentence: string) => void,
): Promise<void> {
  const again = (sentence: string) => {
    announce(sentence);
    return panelPart(element, agent, announce);
  };
  const { open, joined, ratings } = await membership(agent);
  if (joined !== undefined && ratings) drawMember(element, agent, joined, ratings, again);
  else if (open) drawOffer(element, agent, again);
  else fill(element, el("p", {}, texts.panel.closed));
}

function drawMember(
  element: HTMLElement,
  agent: Agent,
  joined: number,
  shared: PanelRatings,
  again: (sentence: string) => Promise<void>,
): void {
  const when = new Date(joined * 1000).toLocaleDateString(tag, { dateStyle: "long" });
  const problem = problemLine();
  const button = el("button", { type: "button", class: "button" }, texts.panel.leave);
  button.addEventListener("click", () =>
    attempt(button, problem, async () => {
      await leave(agent);
      await again(texts.panel.left);
    }),
  );
  fill(
    element,
    el("p", {}, texts.panel.since(when)),
    linesOf(agent, shared, texts.panel.kept(shared.ratings.length)),
    problem,
    el("div", { class: "row" }, button),
  );
}

function drawOffer(
  element: HTMLElement,
  agent: Agent,
  again: (sentence: string) => Promise<void>,
): void {
  const names = agent.home.categoryNames;
  if (!names || agent.home.ratings.size === 0) {
    fill(element, el("p", {}, texts.panel.nothing));
    return;
  }
  const shared = toShare(agent, names);
  const secret = listed(shared.category.map(([feature]) => featureName(feature)));
  const problem = problemLine();
  const agree = el("input", { type: "checkbox", id: "panel-agree" });
  const button = el(
    "button",
    { type: "button", class: "button", disabled: true },
    texts.panel.join,
  );
  agree.addEventListener("change", () => {
    button.disabled = !agree.checked;
  });
  button.addEventListener("click", () =>
    attempt(button, problem, async () => {
      await join(agent, names);
      await again(texts.panel.joined);
    }),
  );
  fill(
    element,
    ...words.meaning(secret, texts.panel.given).map((sentence) => el("p", {}, sentence)),
    linesOf(agent, shared, texts.panel.all(shared.ratings.length)),
    el("label", { class: "check", for: "panel-agree" }, agree, ` ${texts.panel.agree(secret)}`),
    problem,
    el("div", { class: "row" }, button),
  );
}

/** Everything that is shared, line by line. */
function linesOf(agent: Agent, shared: PanelRatings, summary: string): HTMLElement {
  const { titles, accepted } = agent.standing;
  const written = (value: number) =>
    isUnary(accepted.disclosure.scale) ? texts.rate.marked : plain(value);
  const row = (name: string, value: string) =>
    el("tr", {}, el("td", {}, name), el("td", {}, value));
  return el(
    "details",
    {},
    el("summary", { class: "small" }, summary),
    el(
      "table",
      {},
      el(
        "tbody",
        {},
        ...shared.category.map(([feature, category]) =>
          row(featureName(feature), categoryName(feature, category)),
        ),
        ...shared.ratings.map(([item, value]) => row(titles.get(item) ?? item, written(value))),
      ),
    ),
  );
}

function problemLine(): HTMLElement {
  return el("p", { class: "problem", role: "alert", hidden: true }, texts.panel.failed);
}

/** Do something that may fail; say so, and let her try again. */
async function attempt(
  button: HTMLButtonElement,
  problem: HTMLElement,
  work: () => Promise<void>,
): Promise<void> {
  button.disabled = true;
  problem.hidden = true;
  try {
    await work();
  } catch {
    problem.hidden = false;
    button.disabled = false;
  }
}
