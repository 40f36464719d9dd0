import { describe, expect, it } from "vitest";
import {
  Certificate,
  Disclosure,
  Entry,
  MemoryStore,
  ONE,
  SigningKey,
  type Terms,
} from "../../../src/index";
import { AGE, ANALYST, chain, disclosure, titlesOf } from "../../support/made_up";
import type { Service } from "../../support/service";
import { agentAt, CALM, serve, shown } from "../../support/visits";

const HASTE = { ...CALM, attempt: 200 };

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
    const all = Object.entries(await store.read());
    const documents = all.filter(([name]) => name.startsWith("document/"));
    await store.write(Object.fromEntries(documents.map(([name]) => [name, undefined]))); // it asks again
    const before = await store.read();
    lie(service);
    service.seen.length = 0;
    const code = await (await agentAt(address, store, terms, patience)).connect().then(
      () => "accepted",
      (error) => error.code ?? error.name,
    );
    const asked = service.seen.filter(({ method, token }) => method !== "GET" || token);
    expect(asked).toEqual([]); // nothing was sent
    const { proof: _, ...rest } = before; // which grows by what is refused as well
    if (code !== "accepted") expect(await store.read()).toMatchObject(rest); // nothing was lost
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

  it("a disclosure that no auditor certified, if she requires it", async () => {
    expect(await lied(() => {}, { requireCertificate: true })).toBe("not_certified");
  });

  it("a disclosure that an auditor certified to leak, if she requires better", async () => {
    const auditor = SigningKey.generate();
    const stated = { adversary: "panel", people: 900 };
    const showing =
      (auc: number, said: object = stated) =>
      (service: Service) => {
        const figures = { auc, auc_low: auc - 10_000, auc_high: auc + 10_000 };
        const certificate = Certificate.make({
          disclosure: shown.digest,
          data: "0".repeat(64),
          auditor: "somebody",
          key: auditor.public,
          attack: "trees",
          ...figures,
          null_low: 480_000,
          null_high: 520_000,
          rmse_cost: 0,
          time: 1,
          ...said,
        });
        service.certificates = [auditor.seal(Certificate, certificate)];
      };
    const auditors = [auditor.public];
    const required = { auditors, requireCertificate: true };
    expect(await lied(showing(900_000), required)).toBe("not_certified");
    expect(await lied(showing(100_000), required)).toBe("not_certified");
    expect(await lied(showing(900_000), { ...required, mostAuc: 0.91 })).toBe("accepted");
    expect(await lied(showing(550_000), { ...required, mostAuc: 0.55 })).toBe("not_certified");
    expect(await lied(showing(550_000), required)).toBe("accepted");
    expect(await lied(showing(550_000, {}), required)).toBe("not_certified");
    expect(await lied(showing(550_000, {}), { auditors })).toBe("accepted");
    expect(await lied(showing(900_000), { auditors })).toBe("accepted"); // it is shown, no more
  });

  it("a leak budget beyond what she accepts", async () => {
    const keep = shown.items.map((_, j) => (j % 2 ? ONE : ONE / 2));
    const budgeted = (leak: number) => (service: Service) => {
      service.publish(Disclosure.make({ ...shown, keep, leak } as Disclosure));
    };
    const terms = { mostLeak: 0.6 };
    expect(await lied(budgeted(0.5625 * ONE), terms)).toBe("accepted");
    expect(await lied(budgeted(0.75 * ONE), terms)).toBe("leak_too_large");
    expect(await lied(() => {}, terms)).toBe("leak_too_large"); // it does not say
    expect(await lied(budgeted(0.75 * ONE))).toBe("accepted");
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
