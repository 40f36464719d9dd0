/** The page: model, actions and views put together, for one service. */

import { Shown } from "./model/model";
import type { Installation } from "./session/installation";
import { Session } from "./session/session";
import { FILMS, type Site, speak, tag, texts } from "./texts";
import { frame, toast, viewOf } from "./views/frame";

/** Draw the page into an element. */
export function openPage(root: HTMLElement, installation: Installation): void {
  const shown = new Shown();
  const session = new Session(shown, installation);
  const say = toast(() => undo());
  session.announce = (sentence, withUndo = false) => say(sentence, withUndo);

  function undo(): void {
    const item = session.undo();
    const title = item === null ? undefined : shown.model.titles?.of(item).name;
    say(title === undefined ? texts.rate.nothingToUndo : texts.rate.undone(title), false);
  }

  document.documentElement.lang = tag;
  let site: Site = FILMS;
  let draw = frame(root, session, () => shown.model);
  const turn = () => shown.change({ view: viewOf(location.hash) });
  addEventListener("hashchange", turn);
  turn();
  shown.watch((model) => {
    if (JSON.stringify(site) !== JSON.stringify(model.site)) {
      // The site speaks of other things than was thought: all is drawn again, in its words.
      site = model.site;
      speak(site);
      draw = frame(root, session, () => shown.model);
    }
    draw(model);
  });

  addEventListener("keydown", (event) => {
    const typing =
      event.target instanceof Element && event.target.matches("input, select, textarea");
    if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (document.querySelector("dialog[open]") || shown.model.phase !== "ready") return;
    if (event.key === "u") undo();
    if (event.key === "/") {
      event.preventDefault();
      location.hash = "#rate";
      document.querySelector<HTMLInputElement>("input[type=search]")?.focus();
    }
  });

  void session.open();
}
