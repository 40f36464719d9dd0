import { hexToBytes } from "@noble/hashes/utils.js";
import { describe, expect, it } from "vitest";
import { Home, KnownElsewhereError, MemoryStore } from "../../../src/index";
import { MovedError } from "../../../src/user/agent/home";
import { directoryName, exportDevice, importDevice } from "../../../src/user/agent/transfer";
import { signingKeys } from "../../../src/user/checks/proof";
import { ratings } from "../../support/made_up";
import { cases } from "../../support/vectors";
import { agentAt, serve, shown, woman } from "../../support/visits";

const PHRASE = "correct horse battery";

/** Answer one round with what a store holds. */
async function answer(address: string, store: MemoryStore, seed: number): Promise<void> {
  const agent = await agentAt(address, store);
  await agent.connect();
  await agent.solicit();
  await agent.answer(ratings(shown, seed, 0.3), woman);
  await agent.submit();
}

describe("a file of the other program", () => {
  it.each(cases("device_files"))("is read, and written to the last byte: $name", async (given) => {
    const { address, passphrase, files, salt, nonce, backup } = given;
    const store = new MemoryStore();
    await importDevice(hexToBytes(given.file), passphrase.normalize("NFC"), store, address);
    expect(await store.read()).toEqual({ ...files, restored: "yes", "app/joined": "yes" });
    await store.write({ restored: undefined });
    const drawn = [salt, nonce].map(hexToBytes);
    const random = () => drawn.shift() as Uint8Array;
    const again = await exportDevice(store, address, passphrase, { backup, random });
    expect(again).toEqual(hexToBytes(given.file));
    expect((await store.read()).moved).toBe(backup ? undefined : "yes");
  });

  it("stands for an address by the same name", () => {
    expect(directoryName("https://recommend.example.org/")).toMatch(
      /^recommend\.example\.org-[0-9a-f]{12}$/,
    );
    const names = ["https://a.b", "http://a.b", "https://a.b/c", "https://a.b:1"].map(
      directoryName,
    );
    expect(new Set(names).size).toBe(4);
  });
});

describe("a service that is known under another address", () => {
  it("is refused a second secret, by all keys that ever signed", async () => {
    const [, address] = await serve(shown);
    const here = new MemoryStore();
    await answer(address, here, 1);
    const file = await exportDevice(here, address, PHRASE, { backup: true });
    const { pin, proof } = await Home.open(here);
    const seen: ReadonlySet<string>[] = [];
    const fresh = new MemoryStore();
    const refusing = async (keys: ReadonlySet<string>) => {
      seen.push(keys);
      throw new KnownElsewhereError("known here as https://other.example");
    };
    await expect(importDevice(file, PHRASE, fresh, address, refusing)).rejects.toThrow(
      KnownElsewhereError,
    );
    expect(await fresh.read()).toEqual({});
    expect([...(seen[0] ?? [])]).toEqual([...new Set([pin?.key, ...signingKeys(proof)])]);
    expect(signingKeys(proof)).toHaveLength(proof.shown.length);
    await importDevice(file, PHRASE, fresh, address, async () => {}); // the control
  }, 60_000);
});

describe("two devices of one person", () => {
  it("never decide apart", async () => {
    const [service, address] = await serve(shown);
    const [here, there] = [new MemoryStore(), new MemoryStore()];
    await answer(address, here, 1);
    const openBefore = await agentAt(address, here);
    await openBefore.connect();
    await openBefore.solicit();
    const file = await exportDevice(here, address, PHRASE);
    // A tab that was open all the time decides nothing more, nor does one that opens.
    await expect(openBefore.answer(ratings(shown, 2, 0.3), woman)).rejects.toThrow("another tab");
    await expect(Home.open(here)).rejects.toThrow(MovedError);
    await importDevice(file, PHRASE, there, address);
    const seen = service.seen.length;
    await answer(address, there, 2);
    expect(service.seen[seen].path).toBe("/v1/pseudonym"); // before all else
    expect(service.people.size).toBe(1);
    // The file was imported elsewhere too: the service holds an answer that it does not know.
    const third = new MemoryStore();
    await importDevice(file, PHRASE, third, address);
    await expect(answer(address, third, 3)).rejects.toThrow("the ledger does not know it");
    // Older than what was left here, or in use: nothing changes.
    const kept = await there.read();
    await expect(importDevice(file, PHRASE, there, address)).rejects.toThrow("already answered");
    const later = await exportDevice(there, address, PHRASE);
    await expect(importDevice(file, PHRASE, there, address)).rejects.toThrow("older");
    expect(await there.read()).toEqual({ ...kept, moved: "yes" });
    // And back again, where the ledger that was left behind is continued.
    await importDevice(later, PHRASE, here, address);
    await answer(address, here, 4);
    expect((await Home.open(here)).ledger.rounds).toHaveLength(3);
  }, 60_000);

  it("keep the way out of a panel that she may have joined elsewhere", async () => {
    const [, address] = await serve(shown);
    const [here, there] = [new MemoryStore(), new MemoryStore()];
    const agent = await agentAt(address, here);
    await agent.connect(); // she answered nothing
    const file = await exportDevice(here, address, PHRASE);
    const other = new MemoryStore();
    await Home.open(other);
    const stranger = await exportDevice(other, address, PHRASE);
    await importDevice(stranger, PHRASE, new MemoryStore(), address); // the control: it is good
    await importDevice(file, PHRASE, there, address);
    await expect(importDevice(stranger, PHRASE, there, address)).rejects.toThrow(
      "joined the panel",
    );
    expect((await Home.open(there)).memberToken).toBe(agent.home.memberToken);
    // Joining in another tab, just while a file is imported here.
    const meanwhile = new (class extends MemoryStore {
      override async read() {
        const texts = await super.read();
        await super.write({ "app/joined": "yes" });
        return texts;
      }
    })();
    await expect(importDevice(stranger, PHRASE, meanwhile, address)).rejects.toThrow("another tab");
  }, 60_000);

  it("need the passphrase, the whole file and the same service", async () => {
    const [, address] = await serve(shown);
    const store = new MemoryStore();
    await answer(address, store, 1);
    const file = await exportDevice(store, address, PHRASE, { backup: true });
    await answer(address, store, 2); // a backup leaves it in use
    const into = (raw: Uint8Array, phrase: string, at = address) => {
      const fresh = new MemoryStore();
      const done = importDevice(raw, phrase, fresh, at);
      return done.finally(async () => expect(await fresh.read()).toEqual({}));
    };
    const torn = file.slice();
    torn[torn.length - 1] ^= 1;
    await expect(into(file, "wrong horse battery")).rejects.toThrow("passphrase is wrong");
    await expect(into(torn, PHRASE)).rejects.toThrow("damaged");
    await expect(into(file.slice(1), PHRASE)).rejects.toThrow("no file of a Midpoint device");
    await expect(into(file, PHRASE, "https://other.example")).rejects.toThrow("another service");
    await expect(into(file, "short")).rejects.toThrow("at least 12");
    await expect(exportDevice(store, address, "short")).rejects.toThrow("at least 12");
    expect((await store.read()).moved).toBeUndefined();
  }, 60_000);
});
