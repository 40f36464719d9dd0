/** Another device, and a backup: what leads to the dialog, which is loaded when it is asked for. */

import type { Actions } from "../actions";
import { el } from "../dom";

export const files = {
  open: "Another device, or a backup",
  have: "Import a file from another device",
  moved: "You moved to another device. Import a file from there to come back.",
};

/** A button that opens the dialog. */
export function deviceButton(actions: Actions, text: string): HTMLElement {
  const click = () => openDeviceDialog(actions);
  return el("button", { type: "button", class: "button", on: { click } }, text);
}

/** Open the dialog. */
function openDeviceDialog(actions: Actions): void {
  void import("./device").then(({ deviceDialog }) => deviceDialog(actions));
}
