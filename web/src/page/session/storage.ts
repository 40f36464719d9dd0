/** What the page keeps in this browser, and nowhere else. */

import {
  Agent,
  type Channel,
  DeviceSecret,
  Home,
  IndexedDbStore,
  MemoryStore,
  MILLION,
  type RequireOnlyOne,
  type Store,
  type Terms,
} from "../../index";
import { Demands as Kept, USUAL } from "../../user/agent/demands";
import { MOST_AUC, SHOWN_FOR } from "../../wire/record";
import type { Demands } from "../model/model";
import type { Installation } from "./installation";

const SECRET = "secret";
const ANSWERS = "answers";
const HOUR = 3600;
/** Milliseconds to wait for the browser's promise; some ask the person, who may not answer. */
const PROMISE = 5000;

/** What an agent is given of what she demands. */
export function termsOf(demands: Demands): Terms {
  const { witness, witnessKey, mostLeak, hours, ...rest } = demands;
  return {
    ...rest,
    witness: witness ?? undefined,
    witnessKey: witnessKey || undefined,
    mostLeak: mostLeak ?? undefined,
    shownFor: Math.round(hours * HOUR),
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
    this.#home = await Home.open(this.#store, undefined, this.#installation.requireOnlyOne);
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
    const kept = this.#demands;
    const known = kept.witness ?? this.#home?.proof.asked ?? named[0] ?? null;
    return {
      witness: kept.without_witness ? null : known,
      witnessKey: kept.witness_key ?? "",
      withoutWitness: kept.without_witness,
      hours: (kept.shown_for ?? SHOWN_FOR) / HOUR,
      auditors: kept.auditors,
      requireCertificate: kept.require_certificate,
      mostAuc: (kept.most_auc ?? MOST_AUC) / MILLION,
      mostLeak: kept.most_leak === undefined ? null : kept.most_leak / MILLION,
      showRated: kept.show_rated,
    };
  }

  /** Keep what she demands from now on. */
  async keepDemands(demands: Demands): Promise<void> {
    const millionths = (auc: number) => Math.round(auc * MILLION);
    await this.#home?.keepDemands(
      Kept.make({
        auditors: demands.auditors,
        require_certificate: demands.requireCertificate,
        most_auc: millionths(demands.mostAuc),
        most_leak: demands.mostLeak === null ? undefined : millionths(demands.mostLeak),
        witness: demands.witness ?? undefined,
        witness_key: demands.witnessKey || undefined,
        shown_for: Math.round(demands.hours * HOUR),
        without_witness: demands.withoutWitness,
        show_rated: demands.showRated,
      }),
    );
  }

  /** Whether she confirmed this auditor's key. */
  trusts(key: string): boolean {
    return this.#demands.auditors.includes(key);
  }

  /** Confirm an auditor's key, or withdraw that. */
  async trust(key: string, trusted: boolean): Promise<void> {
    const others = this.#demands.auditors.filter((known) => known !== key);
    const auditors = trusted ? [...others, key] : others;
    await this.#home?.keepDemands(Kept.make({ ...this.#demands, auditors }));
  }

  /** Refuses a second secret for one service, where that can be seen. */
  get requireOnlyOne(): RequireOnlyOne | undefined {
    return this.#installation.requireOnlyOne;
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

  get #demands(): Kept {
    return this.#home?.demands ?? USUAL;
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
