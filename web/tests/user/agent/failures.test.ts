import { describe, expect, it } from "vitest";
import {
  Agent,
  AwayError,
  Channel,
  Home,
  MemoryStore,
  Receipt,
  ServiceError,
} from "../../../src/index";
import { chain, disclosure, ratings } from "../../support/made_up";
import { problem } from "../../support/service";
import { agentAt, CALM, serve, shown, walk, woman } from "../../support/visits";

describe("when the service fails", () => {
  it("sends the same bytes again until they are acknowledged", async () => {
    const [service, address] = await serve(shown);
    const agent = await agentAt(address);
    await agent.connect();
    await agent.solicit();
    const report = await agent.answer(ratings(shown), woman);
    let left = 2;
    service.trick = ({ path }, response) => {
      if (path !== "/v1/reports" || left-- <= 0) return false;
      if (left === 1) response.destroy();
      else response.writeHead(503, { "Retry-After": "0" }).end(problem(503, "unavailable").text);
      return true;
    };
    await agent.submit();
    const sent = service.seen.filter(({ path }) => path === "/v1/reports").map(({ body }) => body);
    expect(sent).toEqual([report.text, report.text, report.text]);
  });

  it("sends what is decided after a restart, before anything else, and only once", async () => {
    const [service, address] = await serve(shown);
    const store = new MemoryStore();
    const agent = await agentAt(address, store);
    await agent.connect();
    await agent.solicit();
    const report = await agent.answer(ratings(shown), woman);
    service.trick = (_, response) => Boolean(response.destroy());
    await expect(agent.submit()).rejects.toThrow(AwayError);
    await expect(agent.submit()).rejects.toThrow("nothing is lost");
    service.trick = () => false;
    service.seen.length = 0;
    await (await agentAt(address, store)).connect();
    expect(service.seen[0]).toMatchObject({ path: "/v1/reports", body: report.text });
    await (await agentAt(address, store)).connect();
    expect(service.seen.filter(({ path }) => path === "/v1/reports")).toHaveLength(1);
  });

  it.each(["retired_disclosure", "space_used_up"])(
    "gives up on a report that is refused for good, and says why: %s",
    async (code) => {
      const [service, address] = await serve(shown);
      const agent = await agentAt(address);
      await agent.connect();
      await agent.solicit();
      await agent.answer(ratings(shown), woman);
      service.trick = ({ path }, response) => {
        if (path !== "/v1/reports") return false;
        response.writeHead(409).end(problem(409, code).text);
        return true;
      };
      const refused = agent.submit();
      await expect(refused).rejects.toThrow(ServiceError);
      await expect(refused).rejects.toMatchObject({ code });
      expect(await agent.submit()).toBeUndefined();
    },
  );

  it("keeps a report whose receipt is for another one", async () => {
    const [service, address] = await serve(shown);
    const agent = await agentAt(address);
    await agent.connect();
    await agent.solicit();
    await agent.answer(ratings(shown), woman);
    service.trick = ({ path }, response) => {
      if (path !== "/v1/reports") return false;
      response.end(Receipt.make({ report: "0".repeat(64), answers: 1 }).text);
      return true;
    };
    await expect(agent.submit()).rejects.toMatchObject({ code: "wrong_digest" });
    expect(agent.home.unsent).toHaveLength(1);
  });

  it("checks a new disclosure when the service says that its own is not current", async () => {
    const [service, address] = await serve(shown);
    const agent = await agentAt(address);
    await agent.connect();
    service.publish(disclosure({ n: 40, seed: 2 }));
    const asked = await agent.solicit();
    expect(asked.disclosure).toBe(service.current.digest);
    expect(agent.home.pin?.sequence).toBe(1);
  });

  it("drops an open question when the figures that it goes with are replaced", async () => {
    const [service, address] = await serve(shown);
    const agent = await agentAt(address);
    await agent.connect();
    await agent.solicit();
    await agent.connect();
    expect(agent.asked).toBeDefined(); // control: nothing new was published
    service.publish(disclosure({ n: 40, seed: 2 }));
    await agent.recommend(3, woman);
    expect(agent.standing.accepted.disclosure.digest).toBe(service.current.digest);
    expect(agent.asked).toBeUndefined();
    expect(() => agent.preview(ratings(shown), woman)).toThrow("solicit first");
    for (const person of service.people.values()) person.round = undefined;
    await agent.solicit();
    await agent.answer(ratings(shown), woman);
    expect(await agent.submit()).toBeDefined();
  });

  it("goes on with later rounds at a service that lost what it had kept", async () => {
    const [service, address] = await serve(shown);
    const agent = await agentAt(address);
    await agent.connect();
    for (const expected of [0, 1]) {
      expect((await agent.solicit()).round).toBe(expected);
      await agent.answer(ratings(shown, 1, 0.3), woman);
      await agent.submit();
      service.people.clear();
    }
  });

  it("exports what is here when the service knows nobody of this pseudonym", async () => {
    const [service, address] = await serve(shown);
    const agent = await agentAt(address);
    const declined = (code: string) => {
      service.trick = ({ path }, response) =>
        path === "/v1/pseudonym" && Boolean(response.writeHead(404).end(problem(404, code).text));
    };
    declined("not_found");
    expect(JSON.parse(await agent.export())).toMatchObject({ service: null, device: {} });
    declined("too_many");
    await expect(agent.export()).rejects.toThrow(ServiceError);
  });

  it("goes on with what changed once she accepts it, as the same person", async () => {
    const [service, address] = await serve(shown);
    const agent = await agentAt(address);
    await agent.connect();
    const { token } = agent.home;
    service.publish(disclosure({ n: 40, scheme: "dmp" }));
    await expect(agent.connect()).rejects.toMatchObject({ code: "scheme_changed" });
    await expect(agent.connect()).rejects.toMatchObject({ code: "scheme_changed" });
    agent.home.repin();
    await expect(agent.connect()).rejects.toMatchObject({ code: "rated_shown" });
    agent.terms = { showRated: true };
    agent.home.repin();
    await agent.connect();
    expect([agent.home.pin?.scheme, agent.home.token]).toEqual(["dmp", token]);
  });

  it("holds the service to the former pin again if what she agreed to see is refused", async () => {
    const [service, address] = await serve(shown);
    const agent = await agentAt(address);
    await agent.connect();
    const before = agent.home.pin?.text;
    service.publish(disclosure({ n: 40, scheme: "mp" }));
    agent.home.repin();
    await expect(agent.connect()).rejects.toMatchObject({ code: "scheme_unsafe" });
    expect(agent.home.pin?.text).toBe(before);
    service.shown = [disclosure({ n: 40, seed: 9 })];
    service.entries = chain(service.shown);
    await expect(agent.connect()).rejects.toMatchObject({ code: "chain_forked" });
    agent.home.repin(); // the control: what is fine is taken, once she agrees
    await agent.connect();
    expect(agent.home.pin?.text).not.toBe(before);
  });

  it("lets the browser's cache keep nothing, and forgets what it kept instead", async () => {
    const [, address] = await serve(shown);
    const modes: [string, string | undefined][] = [];
    const watched: typeof fetch = (url, options) => {
      modes.push([new URL(String(url)).pathname, options?.cache]);
      return fetch(url, options);
    };
    const store = new MemoryStore();
    const agent = new Agent(address, await Home.open(store), {}, new Channel(CALM, watched));
    await agent.connect();
    const once = modes.map(([path]) => path);
    expect(once).toContain(`/v1/disclosures/${shown.digest}`);
    modes.length = 0;
    await agent.connect(); // what is named by its digest is kept here, and not asked for again
    expect(modes.map(([path]) => path)).toEqual([
      "/v1/chain",
      `/v1/disclosures/${shown.digest}/certificates`,
    ]);
    await walk(agent, woman);
    expect(modes.filter(([, mode]) => mode !== "no-store")).toEqual([]);
    expect(modes.length).toBeGreaterThan(10);
    expect(await store.read()).toEqual({});
  });

  it("finishes forgetting later, and does nothing else before", async () => {
    const [service, address] = await serve(shown);
    const store = new MemoryStore();
    const agent = await agentAt(address, store);
    await agent.connect();
    await agent.solicit();
    service.trick = (_, response) => Boolean(response.destroy());
    await expect(agent.forget()).rejects.toThrow(AwayError);
    service.trick = () => false;
    const later = await agentAt(address, store);
    await expect(later.connect()).rejects.toThrow("forgotten");
    expect(service.people.size).toBe(1);
    await later.forget();
    expect(service.people.size).toBe(0);
    expect(await store.read()).toEqual({});
  });
});
