/**
 * Moving to another device, or a backup: all that a device keeps about a service, in one file.
 *
 * It is the file of `midpoint device export`: a first line that says what it is, 16 bytes of salt, 12
 * of nonce, and a message that ChaCha20-Poly1305 encrypts under scrypt(passphrase, salt); the first
 * line is authenticated as well.
 *
 * Two devices must not decide apart: the same coins with different ledgers would toss decided items
 * again. So an export marks what it leaves behind as moved, which then answers nothing. A backup
 * leaves the device in use; what is imported asks the service, before all else, whether anything was
 * answered since.
 */
import { chacha20poly1305 } from "@noble/ciphers/chacha.js";
import { scryptAsync } from "@noble/hashes/scrypt.js";
import { concatBytes, randomBytes } from "@noble/hashes/utils.js";
import { MidpointError } from "../../errors";
import { digest, utf8 } from "../../wire/canonical";
import { flag, list, name, pair, text } from "../../wire/fields";
import { textOf } from "../../wire/json";
import { kind } from "../../wire/message";
import { signingKeys } from "../checks/proof";
import { FORGETTING, LEDGER, MOVED, SECRET } from "../core/ledger";
import { MemoryStore, type Store, type Texts } from "../store";
import { DEMANDS, Home, IN_PANEL, NOTES, PIN, PROOF, RESTORED, type RequireOnlyOne } from "./home";

const FIRST_LINE = utf8("midpoint device v1\n");
const [SALT, NONCE] = [16, 12];
/** scrypt: 128 MiB of memory and some seconds for each guess at a passphrase. */
const COST = { N: 2 ** 17, r: 8, p: 1, dkLen: 32 };
/** Characters of a passphrase, at least. */
export const SHORTEST = 12;
/** What goes into the file; a terminal's file also holds what was published, which is asked for again. */
const FILES = [SECRET, LEDGER, PIN, NOTES, PROOF, DEMANDS];
const PUBLISHED = "published";

const Transfer = kind("transfer", { name, files: list(pair(name, text())), backup: flag });

/** Options of an export. */
export interface ExportOptions {
  /** Whether this device stays in use. */
  readonly backup?: boolean;
  /** Salt and nonce, for tests only. */
  readonly random?: (length: number) => Uint8Array;
}

/**
 * Return the encrypted file; unless it is a backup, this device answers nothing from now on.
 *
 * The mark comes first: if the page ends before the file is saved, nothing is lost, and exporting
 * again gives the file.
 */
export async function exportDevice(
  store: Store,
  address: string,
  passphrase: string,
  { backup = false, random = randomBytes }: ExportOptions = {},
): Promise<Uint8Array> {
  const key = checked(passphrase);
  const texts = await store.read();
  if (texts[LEDGER] === undefined) throw new MidpointError("there is nothing here to export");
  if (texts[FORGETTING] !== undefined) {
    throw new MidpointError("you asked to be forgotten and it is not finished; forget again");
  }
  if (texts[RESTORED] !== undefined) {
    throw new MidpointError(
      "this was imported from a file and the service was not asked yet whether it is the newest state; connect once, then export",
    );
  }
  if (backup && texts[MOVED] !== undefined) {
    throw new MidpointError("this was moved to another device already; it cannot be a backup");
  }
  const files = FILES.flatMap((file) => {
    const content = texts[file];
    return content === undefined ? [] : [[file, content] as const];
  });
  const whole = Transfer.make({ name: directoryName(address), files, backup });
  const held = { [SECRET]: texts[SECRET], [LEDGER]: texts[LEDGER], [NOTES]: texts[NOTES] };
  if (!backup) await store.write({ [MOVED]: "yes" }, held);
  const [salt, nonce] = [random(SALT), random(NONCE)];
  const cipher = chacha20poly1305(await scryptAsync(key, salt, COST), nonce, FIRST_LINE);
  return concatBytes(FIRST_LINE, salt, nonce, cipher.encrypt(utf8(whole.text)));
}

/**
 * Put what an export gave into this device's store.
 *
 * What is there already is replaced only if nothing was answered with it, or if it was moved away
 * and the file continues it. Anything else is refused, and nothing changes; so is a second secret
 * for a service that is known under another address, by any key that ever signed for it.
 */
export async function importDevice(
  raw: Uint8Array,
  passphrase: string,
  store: Store,
  address: string,
  requireOnlyOne?: RequireOnlyOne,
): Promise<void> {
  const { name: of, files, backup } = await unsealed(raw, checked(passphrase));
  if (of !== directoryName(address)) {
    throw new MidpointError(
      "the file belongs to another service or to another address of it; nothing was imported",
    );
  }
  const given: Texts = Object.fromEntries(files);
  const strange = files.some(([file]) => ![...FILES, PUBLISHED].includes(file));
  if (strange || new Set(files.map(([file]) => file)).size !== files.length) {
    throw new MidpointError("the file holds names that no device writes; nothing was imported");
  }
  const fresh = Object.fromEntries(FILES.map((file) => [file, given[file]]));
  const trial = new MemoryStore();
  await trial.write(fresh);
  if (given[LEDGER] === undefined || given[SECRET] === undefined) {
    throw new MidpointError("the file holds no ledger; nothing was imported");
  }
  const { pin, proof } = await Home.open(trial); // it checks seal, pin, notes, proof and demands
  if (pin) await requireOnlyOne?.(new Set([pin.key, ...signingKeys(proof)]));
  const here = await store.read();
  requireReplaceable(here, given, backup);
  // It may have been imported elsewhere, and have answered; she may have joined the panel with it.
  const marks = {
    [MOVED]: undefined,
    [FORGETTING]: undefined,
    [RESTORED]: "yes",
    [IN_PANEL]: "yes",
  };
  const looked = [SECRET, LEDGER, ...Object.keys(marks)];
  const held = Object.fromEntries(looked.map((name) => [name, here[name]]));
  await store.write({ ...fresh, ...marks }, held);
}

/** Refuse to replace what was answered or joined with, unless it was moved away and the file continues it. */
function requireReplaceable(here: Texts, given: Texts, backup: boolean): void {
  const body = (ledger = "") => ledger.slice(ledger.indexOf("\n") + 1);
  if (here[MOVED] === undefined) {
    const used = [FORGETTING, IN_PANEL].some((mark) => here[mark] !== undefined);
    if (body(here[LEDGER]) === "" && !used) return;
    throw new MidpointError(
      "this browser already answered or joined the panel here, and that would be lost; forget it first, or go on here",
    );
  }
  if (given[SECRET] !== here[SECRET]) {
    throw new MidpointError("the file belongs to another secret; nothing was imported");
  }
  if (backup || !body(given[LEDGER]).startsWith(body(here[LEDGER]))) {
    throw new MidpointError(
      "the file is older than what was left here; export again on the device that you used last",
    );
  }
}

/** Return the name by which a person's directory stands for an address, as in the terminal. */
export function directoryName(address: string): string {
  const { origin, host, pathname } = new URL(address);
  const plain = origin + pathname.replace(/\/+$/, "");
  return `${host.replace(/[^A-Za-z0-9.-]/g, "_").slice(0, 80)}-${digest(utf8(plain)).slice(0, 12)}`;
}

/** Return a passphrase as bytes, in one spelling of its letters. */
function checked(passphrase: string): Uint8Array {
  if ([...passphrase].length < SHORTEST) {
    throw new MidpointError(
      `a passphrase has at least ${SHORTEST} characters; five words are good`,
    );
  }
  return utf8(passphrase.normalize("NFC"));
}

async function unsealed(raw: Uint8Array, passphrase: Uint8Array) {
  const begin = FIRST_LINE.length;
  if (!FIRST_LINE.every((byte, i) => raw[i] === byte)) {
    throw new MidpointError("this is no file of a Midpoint device; nothing was imported");
  }
  const salt = raw.slice(begin, begin + SALT);
  const nonce = raw.slice(begin + SALT, begin + SALT + NONCE);
  const key = await scryptAsync(passphrase, salt, COST);
  try {
    const body = chacha20poly1305(key, nonce, FIRST_LINE).decrypt(raw.slice(begin + SALT + NONCE));
    return Transfer.parse(textOf(body));
  } catch {
    throw new MidpointError(
      "the passphrase is wrong, or the file was damaged; nothing was imported",
    );
  }
}
