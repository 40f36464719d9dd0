import { describe, expect, it } from "vitest";
import { Entry, MemoryStore, SigningKey, type Terms, WitnessStatement } from "../../../src/index";
import { ANALYST, chain, disclosure, ratings } from "../../support/made_up";
import type { Service } from "../../support/service";
import { agentAt, serve, shown, woman } from "../../support/visits";

const DAY = 86_400;
const later = disclosure({ n: 40, seed: 9 });
const lie = disclosure({ n: 40, seed: 8 });
const key = SigningKey.generate();

describe("a witness", () => {
  /** Let a witness say when it first saw each entry of the service's list, and when it last looked. */
  function saw(witness: Service, of: Service, seen: number[], time: number, by = key): void {
    const entries = of.entries.slice(0, seen.length).map(({ body }) => Entry.parse(body).digest);
    const made = WitnessStatement.make({ entries, seen, time, key: by.public });
    witness.statement = by.seal(WitnessStatement, made);
  }

  /** A service that showed one disclosure for days, its witness, and a device that asks both. */
  async function world(terms: Terms = {}) {
    const [service, address] = await serve(shown);
    const [witness, at] = await serve(shown);
    const store = new MemoryStore();
    saw(witness, service, [0], 9 * DAY);
    const agent = await agentAt(address, store, { witness: at, ...terms });
    return { service, witness, store, agent, at, address };
  }

  it("keeps her from an entry that was appended for her; it is kept as proof", async () => {
    const { service, agent, address } = await world();
    service.publish(lie);
    const trusting = await agentAt(address);
    expect((await trusting.connect()).accepted.disclosure.digest).toBe(lie.digest); // the control
    const { accepted } = await agent.connect();
    expect([accepted.disclosure.digest, accepted.superseded]).toEqual([shown.digest, true]);
    await agent.solicit();
    const report = await agent.answer(ratings(shown, 1, 0.3), woman);
    expect(report.disclosure).toBe(shown.digest);
    await agent.submit();
    expect(await agent.recommend(3, woman)).toHaveLength(3);
    expect(Entry.parse(agent.home.proof.shown[1].body).disclosure).toBe(lie.digest);
    service.shown = [shown, later];
    service.entries = chain(service.shown);
    await expect(agent.connect()).rejects.toMatchObject({ code: "chain_forked" });
    expect(agent.home.proof.others).toHaveLength(1);
    expect(JSON.parse(await agent.export()).device.proof.others).toHaveLength(1);
    agent.home.repin(); // she agrees: the proof stays
    await agent.connect();
    expect(agent.home.proof.others).toHaveLength(2);
  });

  it("is named if it does not answer as one", async () => {
    const { agent, witness, at } = await world();
    witness.statement = undefined;
    await expect(agent.connect()).rejects.toThrow(`${at} is no witness`);
  });

  it("keeps her from a lie that was public for a moment, also a day later", async () => {
    const { service, witness, agent } = await world();
    service.publish(lie);
    service.publish(later);
    const under = async (seen: number[], time: number) => {
      saw(witness, service, seen, time);
      return (await agent.connect()).accepted.entry.sequence;
    };
    expect(await under([0, 9 * DAY], 9 * DAY)).toBe(0);
    expect(await under([0, 9 * DAY, 9 * DAY + 60], 10 * DAY + 30)).toBe(0);
    expect(await under([0, 9 * DAY, 9 * DAY + 60], 10 * DAY + 60)).toBe(2);
  });

  it("has to show something for long enough, or for as long as she says", async () => {
    const { service, witness, agent } = await world();
    saw(witness, service, [0], DAY - 1);
    await expect(agent.connect()).rejects.toMatchObject({ code: "not_witnessed" });
    agent.terms = { ...agent.terms, shownFor: DAY - 1 };
    expect((await agent.connect()).accepted.superseded).toBe(false);
  });

  it("of another list counts: the one shown is refused", async () => {
    const { service, agent } = await world();
    service.shown = [later];
    service.entries = chain(service.shown);
    await expect(agent.connect()).rejects.toMatchObject({ code: "witness_disagrees" });
  });

  it("that is away allows what it allowed before, and nothing to somebody new", async () => {
    const { service, witness, agent, address, at } = await world();
    await agent.connect();
    await witness.stop();
    service.publish(lie);
    expect((await agent.connect()).accepted.disclosure.digest).toBe(shown.digest);
    const fresh = await agentAt(address, new MemoryStore(), { witness: at });
    await expect(fresh.connect()).rejects.toThrow("does not answer");
  });

  it("is held to its key", async () => {
    const { service, witness, agent, address, at } = await world();
    await agent.connect();
    saw(witness, service, [0], 9 * DAY, ANALYST);
    await expect(agent.connect()).rejects.toMatchObject({ code: "witness_changed" });
    const terms = { witness: at, witnessKey: key.public };
    const named = await agentAt(address, new MemoryStore(), terms);
    await expect(named.connect()).rejects.toMatchObject({ code: "witness_changed" });
  });

  it("that is known may not be missing, nor be replaced because she agrees to a change", async () => {
    const { service, store, agent, address, witness, at } = await world();
    await agent.connect();
    service.publish(lie);
    const again = await agentAt(address, store); // it is remembered, and asked
    expect((await again.connect()).accepted.disclosure.digest).toBe(shown.digest);
    again.home.repin();
    saw(witness, service, [0, 9 * DAY], 19 * DAY, ANALYST);
    await expect(again.connect()).rejects.toMatchObject({ code: "witness_changed" });
    const fetched = await again.fetch();
    const missing = { ...fetched, witness: undefined };
    await expect(again.check(missing)).rejects.toMatchObject({ code: "not_witnessed" });
    // The controls: somebody who never had one, herself once she agrees, and a key that she names.
    const trusting = await agentAt(address);
    expect((await trusting.connect()).accepted.disclosure.digest).toBe(lie.digest);
    again.terms = { witness: at, witnessKey: ANALYST.public };
    expect((await again.connect()).accepted.disclosure.digest).toBe(lie.digest);
    again.terms = { withoutWitness: true };
    await again.check(missing);
    expect(again.witness).toBeUndefined();
    again.terms = { witness: at, withoutWitness: true }; // as in Python
    expect(again.witness).toBeUndefined();
  });

  it("is somebody else, and is asked without a pseudonym", async () => {
    const { witness, agent, address } = await world();
    await agent.connect();
    expect(witness.seen.map(({ path, token }) => [path, token])).toEqual([
      ["/v1/witness", undefined],
    ]);
    agent.terms = { witness: `${address}/` };
    await expect(agent.connect()).rejects.toThrow("is no witness: it is the service");
  });
});
