/** Ratings in the clear: as they are, because she says so, and never by a missing category. */
import { describe, expect, it } from "vitest";
import {
  correct,
  DeviceSecret,
  decide,
  Ledger,
  MidpointError,
  ONE,
  PrivateCategory,
  Scores,
} from "../../../src/index";
import { planAhead } from "../../../src/user/core/decisions";
import { accepted, disclosure, ratings, solicitation } from "../../support/made_up";

const clear = PrivateCategory.unprotected();
const woman = new PrivateCategory({ gender: "F" });
const ledger = () => new Ledger(new DeviceSecret(new Uint8Array(32)));

describe("in the clear", () => {
  for (const scheme of ["dmpss", "cmpss"] as const) {
    const shown = disclosure({ scheme, n: 60 });
    const rated = ratings(shown);

    it(`all leaves as it is under ${scheme}, and is final`, async () => {
      const hers = ledger();
      const report = await decide(rated, solicitation(shown), accepted(shown), clear, hers);
      expect(new Map(report.answers)).toEqual(rated);
      expect(hers.moveUnder(shown.digest)).toEqual([]);
      expect([...planAhead(rated, solicitation(shown), accepted(shown), clear, hers)]).toEqual([]);
      const lower = new Map([...rated].map(([item]) => [item, ONE]));
      const again = await decide(lower, solicitation(shown, 2), accepted(shown), woman, hers);
      for (const [item, value] of again.answers) expect(value).toBe(rated.get(item));
    });

    it(`under a category of ${scheme} some are withheld or changed: the control`, async () => {
      const report = await decide(rated, solicitation(shown), accepted(shown), woman, ledger());
      expect(new Map(report.answers)).not.toEqual(rated);
    });
  }

  it("is not what a missing category is", async () => {
    const shown = disclosure({ n: 30 });
    const missing = decide(
      ratings(shown),
      solicitation(shown),
      accepted(shown),
      new PrivateCategory({}),
      ledger(),
    );
    await expect(missing).rejects.toThrow(MidpointError);
  });

  it("ranks scores as they came", () => {
    const shown = disclosure({ n: 30 });
    const scores = Scores.make({
      disclosure: shown.digest,
      items: shown.items,
      score: shown.items.map((_, i) => i),
      deviation: shown.items.map(() => 0),
    });
    const best = correct(scores, shown, clear, new Set(), []);
    expect(best.map(({ score }) => score)).toEqual(shown.items.map((_, i) => i).reverse());
  });
});
