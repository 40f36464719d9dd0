/** What is said, in English, by parts that are loaded when somebody asks for them. */

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
    "What you gave here and did not send is replaced. Import a file once, then delete it.",
  missing: "Choose the file first.",
  working: "Working, this takes some seconds",
  cancel: "Cancel",
  name: "her-device.midpoint",
};

export const panel = {
  tag: "en",
  /** What it means to join; `given` is what she gave, such as all her ratings. */
  meaning: (secret: string, given: string) => [
    `If you join the panel, you share your ${secret} and ${given} with this service, as they are: also those that were withheld or changed before. Nothing of it is protected.`,
    "What for: from its panel the service learns how categories differ, and so how to protect everybody else. People who are not in the panel need not share anything.",
    "Who sees it: the people who run the service, and anybody who gets at its database. It is kept apart from your answers, under another pseudonym; but from what you share the service could find out which answers are yours.",
    "What is published: sums over the whole panel. Somebody who knows all of this anyway may find out that you took part.",
    "Later: what you add from now on is not shared until you join again. You can leave at any time: all that you shared is erased, and the next training does not use it. What was published before stays public.",
  ],
};

export const demands = {
  tag: "en",
  title: "What you demand of this service",
  keep: "Save and check again",
  cancel: "Cancel",
  witnessed: (witness: string, hours: number) =>
    `Answers go only under figures that the witness ${witness} has shown for ${hours} ${hours === 1 ? "hour" : "hours"}.`,
  notWitnessed: "No witness is asked: figures made for you alone would go unnoticed.",
  certified: (most: number) =>
    `A certificate is required, by an auditor you trust and of at most AUC ${most}.`,
  notCertified: "No certificate is required.",
  bounded: (most: number) => `The service's leak budget may be AUC ${most} at most.`,
  witness: "Witness",
  none: "None",
  witnessNote:
    "Somebody independent who watches what this service publishes. It learns nothing about you.",
  noneNamed:
    "This service names no witness, and this page can ask no other. The terminal program can.",
  anyWitness:
    "Somebody independent who watches what this service publishes, best with an address that you have from elsewhere. It learns nothing about you. Leave this empty to ask none.",
  witnessKey: "Key of the witness",
  witnessKeyNote:
    "Copy it from where the witness publishes it, not from this page. Leave this empty to hold on to the first key that it shows.",
  badWitness: "Give the witness's address as https://host, or leave it empty.",
  hours: "Hours for which it has to show figures first",
  hoursNote: "Until then your answers go under the figures before.",
  require: "Require a certificate by an auditor I trust",
  most: "Highest AUC to accept",
  mostNote:
    "How often the best attack may pick the right one of two people. 0.5 is blind guessing, 1 is certainty.",
  auditors: "Keys of auditors I trust",
  auditorsNote:
    "Copy a key from where the auditor publishes it, not from this page. One key per line, 64 characters each.",
  leak: "Highest leak budget to accept",
  leakNote:
    "AUC of somebody who knew all errors of the service's figures, as the service says. Leave this empty to accept any.",
  badLeak: "Give the highest leak budget as a number from 0.5 to 1, or leave it empty.",
  badHours: "Give the hours as a number from 0 to 8760.",
  badMost: "Give the highest AUC as a number from 0.5 to 1.",
  badKey: "A key has 64 characters from 0 to 9 and a to f.",
  noAuditor: "Give the key of an auditor you trust, or require no certificate.",
};
