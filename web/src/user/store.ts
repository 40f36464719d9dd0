/**
 * Where a device keeps texts by name: all of a change or nothing of it.
 *
 * Two tabs of a browser share one store. Each says what it expects there when it writes, and is
 * refused if the other wrote meanwhile: they cannot decide one item differently.
 */
import { MidpointError } from "../errors";

/** Texts by name; undefined stands for none. */
export type Texts = Readonly<Record<string, string | undefined>>;

export interface Store {
  /** Return everything. */
  read(): Promise<Texts>;
  /** Make these changes, at once and for good, if `expected` is still what is there. */
  write(changes: Texts, expected?: Texts): Promise<void>;
  /** Take everything away, at once, if `expected` is still what is there. */
  erase(expected?: Texts): Promise<void>;
}

/** What is kept was changed from elsewhere, as by another tab; nothing was written. */
export class ChangedElsewhereError extends MidpointError {
  override name = "ChangedElsewhereError";

  constructor() {
    super("another tab changed what is kept here; load this page again to go on");
  }
}

/** This browser could not read or write what it keeps; nothing was lost, and nothing sent. */
export class StorageError extends MidpointError {
  override name = "StorageError";
}

/** Keeps texts in memory: they end with the program. */
export class MemoryStore implements Store {
  #texts = new Map<string, string>();

  async read(): Promise<Texts> {
    return Object.fromEntries(this.#texts);
  }

  async write(changes: Texts, expected: Texts = {}): Promise<void> {
    this.#require(expected);
    for (const [name, text] of Object.entries(changes)) {
      if (text === undefined) this.#texts.delete(name);
      else this.#texts.set(name, text);
    }
  }

  async erase(expected: Texts = {}): Promise<void> {
    this.#require(expected);
    this.#texts.clear();
  }

  #require(expected: Texts): void {
    for (const [name, text] of Object.entries(expected)) {
      if (this.#texts.get(name) !== text) throw new ChangedElsewhereError();
    }
  }
}

const TEXTS = "texts";

/** Keeps texts in this browser's IndexedDB, one database for each service. */
export class IndexedDbStore implements Store {
  readonly #database: IDBDatabase;

  private constructor(database: IDBDatabase) {
    this.#database = database;
  }

  /** Open the database of this name, or make it. */
  static async open(name: string, factory: IDBFactory = indexedDB): Promise<IndexedDbStore> {
    const request = factory.open(name, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(TEXTS);
    const database = await done(request);
    database.onversionchange = () => database.close();
    return new IndexedDbStore(database);
  }

  async read(): Promise<Texts> {
    const texts = begun(() => this.#database.transaction(TEXTS)).objectStore(TEXTS);
    const [names, values] = await Promise.all([done(texts.getAllKeys()), done(texts.getAll())]);
    return Object.fromEntries(names.map((name, i) => [String(name), String(values[i])]));
  }

  async write(changes: Texts, expected: Texts = {}): Promise<void> {
    await this.#change(expected, (texts) => {
      for (const [name, text] of Object.entries(changes)) {
        if (text === undefined) texts.delete(name);
        else texts.put(text, name);
      }
    });
  }

  async erase(expected: Texts = {}): Promise<void> {
    await this.#change(expected, (texts) => texts.clear());
  }

  /** Let others delete or upgrade the database. */
  close(): void {
    this.#database.close();
  }

  /** Do something in one transaction, if what is expected is there. */
  async #change(expected: Texts, work: (texts: IDBObjectStore) => void): Promise<void> {
    const transaction = this.#writing();
    const texts = transaction.objectStore(TEXTS);
    let changed = false;
    const awaited = Object.entries(expected).map(([name, text]) => {
      const request = texts.get(name);
      request.onsuccess = () => {
        changed ||= request.result !== text;
        // The last one to be looked at decides; requests of a transaction come back in order.
        if (request !== awaited[awaited.length - 1]) return;
        if (changed) transaction.abort();
        else work(texts);
      };
      return request;
    });
    if (awaited.length === 0) work(texts);
    try {
      await finished(transaction);
    } catch (error) {
      throw changed ? new ChangedElsewhereError() : error;
    }
  }

  #writing(): IDBTransaction {
    // Strict: what is acknowledged to the caller is on disk.
    return begun(() => this.#database.transaction(TEXTS, "readwrite", { durability: "strict" }));
  }
}

function done<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(refusedBy(request.error));
  });
}

function finished(transaction: IDBTransaction): Promise<void> {
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(refusedBy(transaction.error));
  });
}

/** Begin a transaction; a database that was closed meanwhile throws at once. */
function begun(begin: () => IDBTransaction): IDBTransaction {
  try {
    return begin();
  } catch (error) {
    throw refusedBy(error as DOMException);
  }
}

function refusedBy(error: DOMException | null): StorageError {
  return new StorageError(
    `this browser does not keep anything (${error?.message ?? "no reason given"}); free some space, or leave private mode`,
  );
}
