import { describe, expect, it } from "vitest";
import {
  type Agent,
  MemoryStore,
  type PrivateCategory,
  type Rateable,
  RefusedError,
  valueShift,
} from "../../../src/index";
import { AGE, chain, disclosure, ratings, titlesOf } from "../../support/made_up";
import type { Seen } from "../../support/service";
import { agentAt, man, serve, shown, walk, woman } from "../../support/visits";

const steps = (seen: readonly Seen[]) => seen.map(({ method, path }) => `${method} ${path}`);

describe("the walk", () => {
  it("makes these requests in this order, the public ones without a pseudonym", async () => {
    const [service, address] = await serve(shown);
    const agent = await agentAt(`${address}/`);
    const { token, memberToken } = agent.home;
    await walk(agent, woman);
    const round = ["POST /v1/solicitation", "POST /v1/reports", "GET /v1/scores"];
    expect(steps(service.seen)).toEqual([
      "GET /v1/chain",
      `GET /v1/catalogues/${titlesOf(shown).digest}`,
      `GET /v1/disclosures/${shown.digest}/certificates`,
      `GET /v1/disclosures/${shown.digest}`,
      ...round,
      ...round,
      "GET /v1/pseudonym",
      "GET /v1/panel",
      "DELETE /v1/panel",
      "DELETE /v1/pseudonym",
    ]);
    service.seen.forEach((request, i) => {
      const own = request.path === "/v1/panel" ? memberToken : token;
      expect(request.token).toBe(i < 4 ? undefined : `Bearer ${own}`);
      expect(request.type).toBe(request.method === "POST" ? "application/json" : undefined);
    });
    expect(service.people.size).toBe(0);
    expect(() => agent.home.ledger).toThrow("forgotten");
  });

  it("shows titles, ranks by her own category and leaves out what she rated", async () => {
    const [, address] = await serve(shown);
    const agent = await agentAt(address);
    const standing = await agent.connect();
    expect(standing.titles.get("item-0003")).toBe("Title of item-0003");
    expect(standing.popularity.get("item-0003")).toBe(3);
    await agent.solicit();
    const rated = ratings(shown, 1, 0.3);
    const seen = agent.preview(rated, man);
    const report = await agent.answer(rated, man);
    expect(report.text).toBe(seen.report.text);
    expect((await agent.submit())?.report).toBe(report.digest);
    expect(await agent.submit()).toBeUndefined();
    const best = await agent.recommend(40, man);
    expect(best).toHaveLength(40 - rated.size);
    expect(best.some(({ item }) => rated.has(item))).toBe(false);
    const order = (list: typeof best) => list.map(({ item }) => item).join();
    expect(order(await agent.recommend(40, woman))).not.toBe(order(best));
  });

  it("shows what can be rated on before the disclosure is there", async () => {
    const [service, address] = await serve(shown);
    const agent = await agentAt(address);
    const early: [Rateable, number][] = [];
    const standing = await agent.connect((rateable) => early.push([rateable, service.seen.length]));
    expect(early).toHaveLength(1);
    const [{ features, scale, scheme, catalogue }, requests] = early[0];
    expect(requests).toBe(3);
    expect([features, scale]).toEqual([shown.features, shown.scale]);
    expect(scheme.name).toBe(shown.scheme);
    expect(catalogue.titles).toEqual([...standing.titles.values()]);
  });

  it("shows nothing early that is not signed, or not what is pinned", async () => {
    const [service, address] = await serve(shown);
    const store = new MemoryStore();
    const early: Rateable[] = [];
    await (await agentAt(address, store)).connect();
    const again = async () =>
      (await agentAt(address, store)).connect((rateable) => early.push(rateable));
    await again();
    expect(early).toHaveLength(1);
    service.publish(disclosure({ n: 40, features: [AGE] }));
    await expect(again()).rejects.toMatchObject({ code: "features_changed" });
    service.entries = chain([disclosure({ n: 41 }), shown]);
    await expect(again()).rejects.toThrow(RefusedError);
    expect(early).toHaveLength(1);
  });

  it("takes off by how much values were moved, where the scheme has counterparts", async () => {
    const adjusted = disclosure({ n: 40, scheme: "cmpss" });
    const [, address] = await serve(adjusted);
    const agent = await agentAt(address);
    await agent.connect();
    const scored = async () => {
      const best = await agent.recommend(40, man);
      return new Map(best.map(({ item, score }) => [item, score]));
    };
    const before = await scored();
    await agent.solicit();
    await agent.answer(ratings(adjusted, 1, 0.3), man);
    await agent.submit();
    const move = agent.home.ledger.moveUnder(adjusted.digest);
    const after = await scored();
    const shift = (item: string) => valueShift(adjusted, move, adjusted.index.get(item)!);
    expect([...after.keys()].some((item) => shift(item) !== 0)).toBe(true);
    for (const [item, score] of after) expect(score).toBe(before.get(item)! - shift(item));
  });

  /** What the service sees of a person, without the content of reports. */
  async function trace(go: (agent: Agent) => Promise<void>): Promise<unknown[]> {
    const [service, address] = await serve(shown);
    await go(await agentAt(address));
    return service.seen.map(({ body, ...rest }) =>
      rest.path === "/v1/reports"
        ? { ...rest, keys: Object.keys(JSON.parse(body)) }
        : { ...rest, body },
    );
  }

  it("looks the same for every category but for the content of reports", async () => {
    expect(await trace((agent) => walk(agent, woman))).toEqual(
      await trace((agent) => walk(agent, man)),
    );
  });

  it("would show who asks if one category asked once more", async () => {
    const leaky = async (agent: Agent, category: PrivateCategory) => {
      await agent.connect();
      if (category.cellIn(shown) === 1) await agent.recommend(1, category);
    };
    expect(await trace((agent) => leaky(agent, woman))).not.toEqual(
      await trace((agent) => leaky(agent, man)),
    );
  });
});
