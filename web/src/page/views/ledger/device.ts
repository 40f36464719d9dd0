/** The dialog for one encrypted file: to move to another device, to back up, to import. */

import { exportDevice, importDevice } from "../../../user/agent/transfer";
import { el, saveFile, say } from "../../controls/dom";
import type * as english from "../../languages/later/en";
import type { Actions } from "../../model/actions";
import { languageOf, readByHer, texts } from "../../texts";

const LANGUAGES = import.meta.glob<typeof english.device>("../../languages/later/*.ts", {
  eager: true,
  import: "device",
});
const words = languageOf(Object.values(LANGUAGES), readByHer());

export function deviceDialog(actions: Actions): void {
  const passphrase = el("input", {
    type: "password",
    id: "device-passphrase",
    autocomplete: "off",
    minlength: 12,
    "aria-describedby": "device-passphrase-note",
  });
  const file = el("input", { type: "file", id: "device-file" });
  const problem = el("p", { class: "problem", role: "alert", hidden: true });
  const state = el("p", { class: "small", role: "status" });
  const button = (text: string, work: () => Promise<void>) =>
    el("button", { type: "button", class: "button", on: { click: () => void run(work) } }, text);
  const make = (backup: boolean) => async () => {
    const file = await actions.withStore((store, address) =>
      exportDevice(store, address, passphrase.value, { backup }),
    );
    saveFile(words.name, file);
    if (!backup) setTimeout(() => actions.useHere(), 500); // once the browser has taken the file
    dialog.close();
  };
  const buttons = [
    button(words.move, make(false)),
    button(words.backup, make(true)),
    button(words.import, async () => {
      const chosen = file.files?.[0];
      if (!chosen) throw new Error(words.missing);
      const raw = new Uint8Array(await chosen.arrayBuffer());
      await actions.withStore((store, address, requireOnlyOne) =>
        importDevice(raw, passphrase.value, store, address, requireOnlyOne),
      );
      actions.useHere();
    }),
  ];
  const [move, backup, read] = buttons;
  const dialog = el(
    "dialog",
    { "aria-labelledby": "device-title" },
    el(
      "div",
      { class: "stack" },
      el("h2", { id: "device-title" }, texts.notices.devices),
      el("p", {}, words.note),
      el("label", { for: "device-passphrase" }, words.passphrase),
      passphrase,
      el("p", { class: "soft small", id: "device-passphrase-note" }, words.passphraseNote),
      el("h3", {}, words.make),
      el("div", { class: "row" }, move, el("span", { class: "small" }, words.moveNote)),
      el("div", { class: "row" }, backup, el("span", { class: "small" }, words.backupNote)),
      el("h3", {}, words.read),
      el("label", { for: "device-file" }, words.file),
      file,
      el("div", { class: "row" }, read, el("span", { class: "small" }, words.importNote)),
      problem,
      state,
      el(
        "button",
        { type: "button", class: "button", on: { click: () => dialog.close() } },
        words.cancel,
      ),
    ),
  );

  async function run(work: () => Promise<void>): Promise<void> {
    problem.hidden = true;
    say(state, words.working);
    for (const each of buttons) each.disabled = true;
    try {
      await work();
    } catch (error) {
      say(problem, error instanceof Error ? error.message : String(error));
      problem.hidden = false;
    }
    say(state, "");
    for (const each of buttons) each.disabled = false;
  }

  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  passphrase.focus();
}
