import { afterEach, describe, expect, it } from "vitest";
import {
  Agent,
  AwayError,
  Channel,
  DeviceSecret,
  Disclosure,
  Entry,
  Home,
  MemoryStore,
  ONE,
  PrivateCategory,
  Receipt,
  ServiceError,
  SigningKey,
  type Terms,
  valueShift,
} from "../../../src/index";
import { AGE, ANALYST, chain, disclosure, ratings, titlesOf } from "../../support/made_up";
import { problem, type Seen, Service } from "../../support/service";

/** Long enough for a busy machine; waits between tries are short. */
const CALM = { attempt: 20_000, total: 20_000, tries: 3, firstWait: 10 };
const HASTE = { ...CALM, attempt: 200 };
const shown = disclosure({ n: 40 });
const woman = new PrivateCategory({ gender: "F" });
const man = new PrivateCategory({ gender: "M" });
const running: Service[] = [];

async function serve(...disclosures: Disclosure[]): Promise<[Service, string]> {
  const service = new Service(...disclosures);
  running.push(service);
  return [service, await service.start()];
}

async function agentAt(
  address: string,
  store = new MemoryStore(),
  terms: Terms = {},
  patience = CALM,
): Promise<Agent> {
  const home = await Home.open(store, new DeviceSecret(new Uint8Array(32).fill(5)));
  return new Agent(address, home, terms, new Channel(patience));
}

/** Do everything once. */
async function walk(agent: Agent, category: PrivateCategory): Promise<void> {
  await agent.connect();
  for (const seed of [1, 2]) {
    await agent.solicit();
    await agent.answer(ratings(shown, seed, 0.3), category);
    await agent.submit();
    await agent.recommend(5, category);
  }
  await agent.export();
  await agent.forget();
}

const steps = (seen: readonly Seen[]) => seen.map(({ method, path }) => `${method} ${path}`);

afterEach(async () => {
  await Promise.all(running.splice(0).map((service) => service.stop()));
});

describe("the walk", () => {
  it("makes these requests in this order, the public ones without a pseudonym", async () => {
    const [service, address] = await serve(shown);
    const agent = await agentAt(`${address}/`);
    const { token } = agent.home;
    await walk(agent, woman);
    const round = ["POST /v1/solicitation", "POST /v1/reports", "GET /v1/scores"];
    expect(steps(service.seen)).toEqual([
      "GET /v1/chain",
      `GET /v1/disclosures/${shown.digest}`,
      `GET /v1/disclosures/${shown.digest}/certificates`,
      `GET /v1/catalogues/${titlesOf(shown).digest}`,
      ...round,
      ...round,
      "GET /v1/pseudonym",
      "DELETE /v1/pseudonym",
    ]);
    service.seen.forEach((one, i) => {
      expect(one.token).toBe(i < 4 ? undefined : `Bearer ${token}`);
      expect(one.type).toBe(one.method === "POST" ? "application/json" : undefined);
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

  it("takes off by how much values were moved, where the scheme has counterparts", async () => {
    const told = disclosure({ n: 40, scheme: "cmpss" });
    const [, address] = await serve(told);
    const agent = await agentAt(address);
    await agent.connect();
    const scored = async () => {
      const best = await agent.recommend(40, man);
      return new Map(best.map(({ item, score }) => [item, score]));
    };
    const before = await scored();
    await agent.solicit();
    await agent.answer(ratings(told, 1, 0.3), man);
    await agent.submit();
    const move = agent.home.ledger.moveUnder(told.digest);
    const after = await scored();
    const shift = (item: string) => valueShift(told, move, told.items.indexOf(item));
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

  it("would be told apart if one category asked once more", async () => {
    const leaky = async (agent: Agent, category: PrivateCategory) => {
      await agent.connect();
      if (category.cellIn(shown) === 1) await agent.recommend(1, category);
    };
    expect(await trace((agent) => leaky(agent, woman))).not.toEqual(
      await trace((agent) => leaky(agent, man)),
    );
  });
});

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

  it("gives up on a report that is refused for good, and says why", async () => {
    const [service, address] = await serve(shown);
    const agent = await agentAt(address);
    await agent.connect();
    await agent.solicit();
    await agent.answer(ratings(shown), woman);
    service.trick = ({ path }, response) => {
      if (path !== "/v1/reports") return false;
      response.writeHead(409).end(problem(409, "retired_disclosure").text);
      return true;
    };
    const refused = agent.submit();
    await expect(refused).rejects.toThrow(ServiceError);
    await expect(refused).rejects.toMatchObject({ code: "retired_disclosure" });
    expect(await agent.submit()).toBeUndefined();
  });

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

  it("checks a new disclosure when it is told that its own is not current", async () => {
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

  it("lets the browser's cache keep nothing but what is named by its digest", async () => {
    const [, address] = await serve(shown);
    const modes: [string, string | undefined][] = [];
    const watched: typeof fetch = (url, options) => {
      modes.push([new URL(String(url)).pathname, options?.cache]);
      return fetch(url, options);
    };
    const home = await Home.open(new MemoryStore());
    const agent = new Agent(address, home, { witness: `${address}/` }, new Channel(CALM, watched));
    await walk(agent, woman);
    const cached = modes.filter(([, mode]) => mode !== "no-store");
    expect(cached).toEqual([
      [`/v1/disclosures/${shown.digest}`, "default"],
      [`/v1/catalogues/${titlesOf(shown).digest}`, "default"],
    ]);
    expect(modes.length).toBeGreaterThan(10);
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

describe("what is refused", () => {
  const other = disclosure({ n: 40, seed: 9 });
  const stranger = SigningKey.generate();

  const ownTitles = titlesOf(shown).text.replace("Title of item-0003", "Title of item-0004");

  /** Publish the same again, and name no titles. */
  const untitled = ({ entries, shown: [{ digest: disclosure }] }: Service) => {
    const { sequence, digest: previous, time, key } = Entry.parse(entries[0].body);
    const next = { sequence: sequence + 1, disclosure, previous, time, key };
    return ANALYST.seal(Entry, Entry.make(next));
  };

  /** What is shown, but for the first item's row. */
  const telling = (column: "levels" | "reveal", row: unknown) =>
    Disclosure.make({ ...shown, [column]: [row, ...(shown[column] ?? []).slice(1)] } as Disclosure);

  /** Connect honestly, then again to a service that lies; return the refusal's code. */
  async function lied(
    lie: (service: Service) => void,
    terms: Terms = {},
    patience = CALM,
  ): Promise<string> {
    const [service, address] = await serve(shown);
    const store = new MemoryStore();
    await (await agentAt(address, store)).connect();
    const before = await store.read();
    lie(service);
    service.seen.length = 0;
    const code = await (await agentAt(address, store, terms, patience)).connect().then(
      () => "accepted",
      (error) => error.code ?? error.name,
    );
    const asked = service.seen.filter(({ method, token }) => method !== "GET" || token);
    expect(asked).toEqual([]); // nothing was sent
    if (code !== "accepted") expect(await store.read()).toEqual(before); // nothing was lost
    return code;
  }

  const replaced = (path: RegExp, text: string) => (service: Service) => {
    service.trick = (seen, response) => path.test(seen.path) && Boolean(response.end(text));
  };

  it.each<[string, (service: Service) => void, string]>([
    ["nothing, when it is honest", () => {}, "accepted"],
    ["nothing, when more is published", (s) => s.publish(other), "accepted"],
    [
      "another disclosure than listed",
      replaced(/disclosures\/\w{64}$/, other.text),
      "wrong_digest",
    ],
    ["titles of her own", replaced(/catalogues\/\w{64}$/, ownTitles), "wrong_titles"],
    ["a list without titles", (s) => (s.entries = [...s.entries, untitled(s)]), "titles_unsigned"],
    ["another key", (s) => (s.entries = chain(s.shown, stranger)), "key_changed"],
    ["another past", (s) => (s.entries = chain([other, shown])), "chain_forked"],
    ["other features", (s) => s.publish(disclosure({ features: [AGE] })), "features_changed"],
    [
      "a scheme without withholding",
      (s) => s.publish(disclosure({ scheme: "dmp" })),
      "scheme_changed",
    ],
    ["a rounding scheme", (s) => s.publish(disclosure({ scheme: "mpssr" })), "scheme_changed"],
    [
      "telling levels",
      (s) =>
        s.publish(
          telling("levels", [
            [ONE - 1, 0, 0, 0, 1],
            [1, 0, 0, 0, ONE - 1],
          ]),
        ),
      "too_telling",
    ],
    ["a telling silence", (s) => s.publish(telling("reveal", [1, ONE])), "too_telling"],
    ["an unsafe scheme", (s) => s.publish(disclosure({ scheme: "mp" })), "scheme_unsafe"],
    ["a text that is not JSON", replaced(/chain$/, "{"), "not_json"],
    [
      "a float",
      replaced(/disclosures\/\w{64}$/, shown.text.replace("65536", "65536.5")),
      "not_an_integer",
    ],
    ["a certificate by nobody", (s) => (s.certificates = [s.entries[0]]), "missing_field"],
    [
      "a redirect",
      (s) => {
        s.trick = (_, r) => Boolean(r.writeHead(302, { Location: "/v1/chain" }).end());
      },
      "UnusableError",
    ],
    [
      "an error without a reason",
      (s) => {
        s.trick = (_, r) => Boolean(r.writeHead(500).end("oops"));
      },
      "UnusableError",
    ],
    [
      "a truncated answer",
      (s) => {
        s.trick = (_, r) => {
          r.writeHead(200, { "Content-Length": "99" }).write("{");
          return Boolean(setTimeout(() => r.destroy(), 5));
        };
      },
      "AwayError",
    ],
    [
      "more than fits a message",
      (s) => {
        const piece = Buffer.alloc(2 ** 20, " ");
        s.trick = (_, r) => {
          const pour = (): void => {
            if (!r.destroyed) r.write(piece, () => setImmediate(pour));
          };
          pour();
          return true;
        };
      },
      "too_long",
    ],
  ])("%s", async (_, lie, expected) => {
    expect(await lied(lie)).toBe(expected);
  });

  it("an answer that does not end", async () => {
    const endless = (service: Service) => {
      service.trick = (_, response) => Boolean(response.writeHead(200).write("{"));
    };
    expect(await lied(endless, {}, HASTE)).toBe("AwayError");
  });

  it("a list that an independent witness did not see", async () => {
    const [honest, witness] = await serve(shown, other);
    expect(await lied((s) => s.publish(other), { witness })).toBe("accepted");
    expect(await lied(() => {}, { witness })).toBe("witness_disagrees");
    expect(honest.seen.map(({ path, token }) => [path, token])).toEqual([
      ["/v1/chain/head", undefined],
      ["/v1/chain/head", undefined],
    ]);
  });

  it("a disclosure that no auditor certified, if she requires it", async () => {
    expect(await lied(() => {}, { requireCertificate: true })).toBe("not_certified");
  });

  it("a redirect is followed nowhere", async () => {
    const [elsewhere, address] = await serve(shown);
    await lied((s) => {
      s.trick = (_, r) => Boolean(r.writeHead(307, { Location: `${address}/v1/chain` }).end());
    });
    expect(elsewhere.seen).toEqual([]);
  });

  it("addresses that carry more than an address", async () => {
    for (const wrong of ["ftp://host", "https://a:b@host", "https://host/?q=1"]) {
      await expect(agentAt(wrong)).rejects.toThrow("address");
    }
  });
});
