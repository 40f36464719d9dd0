/** Before a service is opened: she allows it, or chooses one. */

import { el, fill } from "../page/controls/dom";
import { icons } from "../page/controls/icons";
import { pageFor, serviceOf } from "./address";
import { remove, services } from "./kept";
import { ask, withdraw } from "./permission";
import { texts } from "./texts";

/** Draw what there is to do first; `address` is the site that she came from, if it can be one. */
export async function chooser(root: HTMLElement, address: string | null): Promise<void> {
  const known = await knownServices();
  document.title = texts.title;
  fill(
    root,
    el(
      "main",
      { class: "frame chooser stack" },
      el("span", { class: "brand" }, icons.brand()),
      el("h1", {}, texts.title),
      el("p", { class: "lead" }, texts.lead),
      address !== null && allowCard(address),
      known,
      openForm(),
    ),
  );
}

function allowCard(address: string): HTMLElement {
  const result = el("p", { class: "problem", role: "alert", hidden: true }, texts.notAllowed);
  const allow = async () => {
    // What is allowed is opened by the listener to changes of permissions.
    result.hidden = await ask(address);
  };
  return el(
    "section",
    { class: "card stack", "aria-labelledby": "allow-title" },
    el("h2", { id: "allow-title" }, texts.allowTitle(address)),
    el("p", {}, texts.allowLead),
    el("p", { class: "soft small" }, texts.otherPerson),
    el("button", { type: "button", class: "button main", on: { click: allow } }, texts.allow),
    result,
  );
}

async function knownServices(): Promise<HTMLElement | false> {
  const known = await services();
  const result = el("p", { class: "small", role: "status" });
  const row = (address: string) => {
    const item = el(
      "li",
      { class: "row" },
      el("a", { href: pageFor(address) }, address),
      el(
        "button",
        {
          type: "button",
          class: "button",
          "aria-label": texts.removeOf(address),
          on: {
            click: async () => {
              await withdraw(address);
              const gone = await remove(address);
              result.textContent = (gone ? texts.removed : texts.withdrawn)(address);
              if (gone) item.remove();
            },
          },
        },
        texts.remove,
      ),
    );
    return item;
  };
  return (
    known.length > 0 &&
    el(
      "section",
      { class: "card stack", "aria-labelledby": "known-title" },
      el("h2", { id: "known-title" }, texts.knownTitle),
      el("ul", { class: "known" }, ...known.map(row)),
      result,
    )
  );
}

function openForm(): HTMLElement {
  const input = el("input", { id: "address", type: "text", inputmode: "url", autocomplete: "off" });
  const problem = el("p", { class: "problem", role: "alert", hidden: true }, texts.badAddress);
  const submit = (event: Event) => {
    event.preventDefault();
    const address = serviceOf(input.value);
    problem.hidden = address !== null;
    if (address !== null) location.assign(pageFor(address));
  };
  return el(
    "form",
    { class: "card stack", novalidate: true, on: { submit } },
    el("h2", {}, texts.openTitle),
    el(
      "div",
      { class: "stack tight field" },
      el("label", { for: "address" }, texts.address),
      input,
      el("p", { class: "soft small" }, texts.addressNote),
    ),
    problem,
    el("button", { type: "submit", class: "button" }, texts.open),
  );
}
