/** Another device, and a backup: what leads to the dialog, which is loaded when it is asked for. */

import type { Actions } from "../actions";
import { el } from "../dom";

export const files = {
  title: "Another device, and a backup",
  open: "Move, back up or import",
  have: "I have a file from another device",
  moved:
    "You moved to another device. This browser answers nothing here until you import a file from that one.",
};

/** The part of the ledger that leads to the dialog. */
export function filesCard(actions: Actions): HTMLElement {
  return el(
    "section",
    { class: "card stack" },
    el("h3", {}, files.title),
    deviceButton(actions, files.open),
  );
}

/** A button that opens the dialog. */
export function deviceButton(actions: Actions, text: string): HTMLElement {
  const click = () => openDeviceDialog(actions);
  return el("button", { type: "button", class: "button", on: { click } }, text);
}

/** Open the dialog. */
function openDeviceDialog(actions: Actions): void {
  void import("./device").then(({ deviceDialog }) => deviceDialog(actions));
}
