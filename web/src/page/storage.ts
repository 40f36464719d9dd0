/** What the page keeps in this browser, and nowhere else. */

import {
  Agent,
  type Channel,
  DeviceSecret,
  Home,
  IndexedDbStore,
  MemoryStore,
  type Store,
  type Terms,
} from "../index";
import type { Installation } from "./installation";
import type { Demands } from "./model";

const SECRET = "secret";
const AUDITORS = "auditors";
const ANSWERS = "answers";
const DEMANDS = "demands";
/** Milliseconds to wait for the browser's promise; some ask the person, who may not answer. */
const PROMISE = 5000;

const USUAL = {
  witness: null,
  witnessKey: "",
  withoutWitness: false,
  hours: 24,
  requireCertificate: false,
  mostAuc: 0.6,
  mostLeak: null,
  showRated: false,
};

/** What an agent is given of what she demands. */
export function termsOf(demands: Demands): Terms {
  const { witness, witnessKey, mostLeak, hours, ...rest } = demands;
  return {
    ...rest,
    witness: witness ?? undefined,
    witnessKey: witnessKey || undefined,
    mostLeak: mostLeak ?? undefined,
    shownFor: Math.round(hours * 3600),
  };
}

/** The browser has a storage and did not open it; going on without it is for her to say. */
export class NotOpenedError extends Error {
  override name = "NotOpenedError";
}

/** The one store of this service; what changes it happens one after the other. */
export class BrowserStorage {
  readonly #installation: Installation;
  #store: Store | null = null;
  #home: Home | null = null;
  #last: Promise<unknown> = Promise.resolve();
  #lasting: Promise<boolean> | null = null;

  constructor(installation: Installation) {
    this.#installation = installation;
  }

  /** Open or start it; where there is no storage at all it ends with the page. */
  async open(): Promise<Home> {
    this.#store ??= await opened(this.#installation.database);
    this.#home = await Home.open(this.#store);
    return this.#home;
  }

  /** From now on keep everything in memory only, because she agreed. */
  withoutStorage(): void {
    this.#store = new MemoryStore();
  }

  /** Whether nothing outlives the page. */
  get ends(): boolean {
    return this.#store instanceof MemoryStore;
  }

  /** Ask the browser, once, not to clear what is kept; whether it promised. */
  makeLasting(): Promise<boolean> {
    this.#lasting ??= this.#installation.lasting ? Promise.resolve(true) : promised();
    return this.#lasting;
  }

  /** Do something once all that came before is done: two changes at a time would collide. */
  inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => {});
    return done;
  }

  /** How many answers the service said that it holds. */
  get answers(): number {
    return Number(this.#home?.kept(ANSWERS) ?? 0);
  }

  async keepAnswers(answers: number): Promise<void> {
    await this.#home?.keep(ANSWERS, String(answers));
  }

  /**
   * What she demands of a service, as she set it.
   *
   * Unless she chose a witness, or none, the one that was asked before is asked; on first use the
   * first one that the service names. So naming none to her does not end it.
   */
  demands(named: readonly string[]): Demands {
    const set: Demands = {
      ...USUAL,
      ...JSON.parse(this.#home?.kept(DEMANDS) ?? "{}"),
      auditors: this.#auditors,
    };
    const known = set.witness ?? this.#home?.proof.asked ?? named[0] ?? null;
    return { ...set, witness: set.withoutWitness ? null : known };
  }

  /** Keep what she demands from now on. */
  async keepDemands({ auditors, ...demands }: Demands): Promise<void> {
    await this.#home?.keep(AUDITORS, auditors.join(" "));
    await this.#home?.keep(DEMANDS, JSON.stringify(demands));
  }

  /** Whether she confirmed this auditor's key. */
  trusts(key: string): boolean {
    return this.#auditors.includes(key);
  }

  /** Confirm an auditor's key, or withdraw that. */
  async trust(key: string, trusted: boolean): Promise<void> {
    const others = this.#auditors.filter((known) => known !== key);
    await this.#home?.keep(AUDITORS, [...others, ...(trusted ? [key] : [])].join(" "));
  }

  /** Where all of it is kept. */
  get store(): Store {
    if (!this.#store) throw new NotOpenedError("");
    return this.#store;
  }

  /**
   * Take everything away, for a store whose content is broken; first at the service.
   *
   * The pseudonym follows from the secret alone, so it is found as long as that can be read.
   */
  async erase(address: string, channel: Channel, onlyHere: boolean): Promise<void> {
    const saved = (await this.#store?.read())?.[SECRET];
    const secret = onlyHere ? null : secretIn(saved);
    if (secret) {
      const person = await Home.open(new MemoryStore(), secret);
      await new Agent(address, person, {}, channel).forget();
    }
    await this.#store?.erase({ [SECRET]: saved });
  }

  get #auditors(): string[] {
    return (this.#home?.kept(AUDITORS) ?? "").split(" ").filter(Boolean);
  }
}

async function opened(database: string): Promise<Store> {
  if (!("indexedDB" in globalThis) || !indexedDB) return new MemoryStore();
  try {
    return await IndexedDbStore.open(database);
  } catch (error) {
    throw new NotOpenedError(error instanceof Error ? error.message : String(error));
  }
}

async function promised(): Promise<boolean> {
  const late = new Promise<boolean>((resolve) => setTimeout(resolve, PROMISE, false));
  const asked = navigator.storage?.persist?.() ?? Promise.resolve(false);
  return Promise.race([asked.catch(() => false), late]);
}

function secretIn(saved: string | undefined): DeviceSecret | null {
  try {
    return DeviceSecret.load(saved ?? "");
  } catch {
    return null;
  }
}
