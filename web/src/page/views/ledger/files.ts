/** Another device, and a backup: what leads to the dialog, which is loaded when it is asked for. */

import { el } from "../../controls/dom";
import type { Actions } from "../../model/actions";
import { texts } from "../../texts";

/** A button that opens the dialog. */
export function deviceButton(actions: Actions): HTMLElement {
  const click = () => void import("./device").then(({ deviceDialog }) => deviceDialog(actions));
  return el("button", { type: "button", class: "button", on: { click } }, texts.notices.devices);
}
