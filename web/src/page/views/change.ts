/** Change what is protected, later on. */

import { add, el } from "../controls/dom";
import type { Actions } from "../model/actions";
import type { Model } from "../model/model";
import { texts } from "../texts";
import { choiceForm } from "./welcome";

/** A dialog to change the choice later. */
export function changeDialog(model: Model, actions: Actions): void {
  const dialog = el("dialog", { "aria-label": texts.welcome.change });
  const close = () => dialog.close();
  const form = choiceForm(model.features, model.chosen, texts.welcome.keep, (names) => {
    actions.choose(names);
    close();
  });
  form.append(
    el("button", { type: "button", class: "button", on: { click: close } }, texts.welcome.cancel),
  );
  add(dialog, form);
  form.prepend(el("p", { class: "soft small" }, texts.welcome.changeNote));
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
