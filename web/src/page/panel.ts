/** The part about the panel, loaded when she opens it: what joining means, joining, leaving. */

import { type Agent, join, leave, membership, type PanelRatings, toShare } from "../index";
import { el, fill } from "./dom";
import { plain } from "./scale";
import { categoryName, featureName, listed } from "./texts";

const words = {
  meaning: (secret: string) => [
    `If you join the panel, you share your ${secret} and all your ratings with this service, as they are: also those that were withheld or changed before. Nothing of it is protected.`,
    "What for: from its panel the service learns how categories differ, and so how to protect everybody else. People who are not in the panel need not share anything.",
    "Who sees it: the people who run the service, and anybody who gets at its database. It is kept apart from your answers, under another pseudonym; but from the titles alone the service could find out which answers are yours.",
    "What is published: sums over the whole panel. Somebody who has your ratings anyway may find out that you took part.",
    "Later: what you rate from now on is not shared until you join again. You can leave at any time: all that you shared is erased, and the next training does not use it. What was published before stays public.",
  ],
  closed: "This service takes nobody into its panel now.",
  nothing: "There is nothing to share yet: choose what to protect and rate some titles first.",
  all: (ratings: number) => `All that would be shared: ${ratings + 1} lines`,
  kept: (ratings: number) => `All that the service keeps of you in its panel: ${ratings + 1} lines`,
  agree: (secret: string) => `Yes, share my ${secret} and my ratings, as they are`,
  join: "Join the panel",
  joined: "You are in the panel.",
  since: (when: string) => `You joined the panel on ${when}.`,
  leave: "Leave the panel",
  left: "You left the panel: the service erased all that you shared.",
  failed: "That did not work; nothing changed here. Try again later.",
};

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
  else fill(element, el("p", {}, words.closed));
}

function drawMember(
  element: HTMLElement,
  agent: Agent,
  joined: number,
  shared: PanelRatings,
  again: (sentence: string) => Promise<void>,
): void {
  const when = new Date(joined * 1000).toLocaleDateString("en", { dateStyle: "long" });
  const problem = problemLine();
  const button = el("button", { type: "button", class: "button" }, words.leave);
  button.addEventListener("click", () =>
    attempt(button, problem, async () => {
      await leave(agent);
      await again(words.left);
    }),
  );
  fill(
    element,
    el("p", {}, words.since(when)),
    linesOf(agent, shared, words.kept(shared.ratings.length)),
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
    fill(element, el("p", {}, words.nothing));
    return;
  }
  const shared = toShare(agent, names);
  const secret = listed(shared.category.map(([feature]) => featureName(feature)));
  const problem = problemLine();
  const agree = el("input", { type: "checkbox", id: "panel-agree" });
  const button = el("button", { type: "button", class: "button", disabled: true }, words.join);
  agree.addEventListener("change", () => {
    button.disabled = !agree.checked;
  });
  button.addEventListener("click", () =>
    attempt(button, problem, async () => {
      await join(agent, names);
      await again(words.joined);
    }),
  );
  fill(
    element,
    ...words.meaning(secret).map((sentence) => el("p", {}, sentence)),
    linesOf(agent, shared, words.all(shared.ratings.length)),
    el("label", { class: "check", for: "panel-agree" }, agree, ` ${words.agree(secret)}`),
    problem,
    el("div", { class: "row" }, button),
  );
}

/** Everything that is shared, line by line. */
function linesOf(agent: Agent, shared: PanelRatings, summary: string): HTMLElement {
  const { titles } = agent.standing;
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
        ...shared.ratings.map(([item, value]) => row(titles.get(item) ?? item, plain(value))),
      ),
    ),
  );
}

function problemLine(): HTMLElement {
  return el("p", { class: "problem", role: "alert", hidden: true }, words.failed);
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
