import { expect, it } from "vitest";
import {
  DeviceSecret,
  Disclosure,
  Ledger,
  ONE,
  PrivateCategory,
  preview,
} from "../../../src/index";
import { Reasons } from "../../../src/page/model/reasons";
import { Titles } from "../../../src/page/model/titles";
import { texts } from "../../../src/page/texts";
import { accepted, disclosure, ratings, solicitation } from "../../support/made_up";

const shown = disclosure({ scheme: "cmpss", n: 60 });
const woman = new PrivateCategory({ gender: "F" });

it("explain a round under a scheme with counterparts", () => {
  const ledger = new Ledger(new DeviceSecret(new Uint8Array(32).fill(7)));
  const rated = ratings(shown, 3, 0.4);
  const asked = solicitation(shown);
  const { lines, report } = preview(rated, asked, accepted(shown), woman, ledger);
  const none = shown.items.map(() => 0);
  const reasons = new Reasons(shown).lines(lines, 0, new Titles(shown.items, shown.items, none));
  const withheld = reasons.filter(({ sent }) => sent === null);
  expect(withheld.length).toBe(rated.size - report.answers.length);
  expect(withheld.length).toBeGreaterThan(0);
  for (const { why } of withheld) expect(why).toContain("people like you in other groups");
  const towards = reasons.filter(({ why }) => why.startsWith("The middle between you"));
  expect(towards.length).toBeGreaterThan(0);
  for (const { why, yours, sent } of towards) {
    expect(why.includes("higher")).toBe((sent ?? 0) > yours);
  }
  expect(reasons.map(({ why }) => why)).not.toContain(texts.leaves.why.notAsked);
});

it("do not put down to her group what is withheld from everyone", () => {
  const reasonsOf = (keep: number, leak?: number) => {
    const thinned = Disclosure.make({ ...shown, keep: shown.items.map(() => keep), leak });
    const line = {
      item: shown.items[0],
      rating: 4 * ONE,
      sent: undefined,
      fate: "withheld" as const,
    };
    const titles = new Titles(
      shown.items,
      shown.items,
      shown.items.map(() => 0),
    );
    const reason = (ofGroup: number) =>
      new Reasons(thinned).lines([{ ...line, shift: 0, reveal: keep * ofGroup }], 0, titles)[0];
    return { mostly: reason(0.9).why, hers: reason(0.1).why, brief: reason(0.9).brief };
  };
  const quarter = reasonsOf(ONE / 4);
  expect(quarter.mostly).toContain("75 % of all answers are withheld, no matter who");
  expect(quarter.mostly).toContain("the less they reveal together. Your own list still counts it.");
  expect(quarter.brief).toBe("Most are withheld from everyone");
  expect(reasonsOf(0.75 * ONE).brief).toBe("Some are withheld from everyone");
  expect(quarter.hers).toContain("people like you in other groups"); // the control
  expect(reasonsOf(ONE / 4, (3 * ONE) / 4).mostly).toContain("knows too little");
});
