/** What is said about files for another device, in English; loaded with what says it. */

export const device = {
  tag: "en",
  note: "One encrypted file holds your secret, your ledger and your ratings. Only one device answers at a time: if two did, your answers could be compared.",
  passphrase: "Passphrase, at least 12 characters",
  passphraseNote:
    "Five words are good. Somebody who has the file and the passphrase is you. Nobody can recover it for you.",
  make: "Make a file",
  move: "Move to another device",
  moveNote: "This browser answers nothing here from then on.",
  backup: "Back up",
  backupNote:
    "This browser stays in use; the file is for the day when it is lost. What is restored first asks the service whether you answered since.",
  read: "Import a file",
  file: "File from another device",
  import: "Import",
  importNote:
    "Ratings that you gave here and did not send are replaced. Import a file once, then delete it.",
  missing: "Choose the file first.",
  working: "Working, this takes some seconds",
  cancel: "Cancel",
  name: "her-device.midpoint",
};
