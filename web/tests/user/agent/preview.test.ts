import { describe, expect, it } from "vitest";
import {
  adjustmentTo,
  counterparts,
  DeviceSecret,
  decide,
  Ledger,
  modelOf,
  type PositionModel,
  PrivateCategory,
  preview,
} from "../../../src/index";
import { planAhead } from "../../../src/user/core/decisions";
import { accepted, disclosure, ratings, solicitation } from "../../support/made_up";

const woman = new PrivateCategory({ gender: "F" });
const man = new PrivateCategory({ gender: "M" });
const secret = () => new DeviceSecret(new Uint8Array(32).map((_, i) => i + 32));

describe("a decision", () => {
  it("is shown before it is made, and showing makes none", async () => {
    const shown = disclosure({ n: 30 });
    const passed = accepted(shown);
    const ledger = new Ledger(secret());
    const [rated, asked] = [ratings(shown), solicitation(shown, 1, shown.items.slice(0, 20))];
    const seen = preview(rated, asked, passed, man, ledger);
    expect(ledger.decided.size).toBe(0);
    expect((await decide(rated, asked, passed, man, ledger)).text).toBe(seen.report.text);
    for (const { item, sent, fate } of seen.lines) {
      const made = ledger.decision(item);
      if (fate === "not_asked") expect(made).toBeUndefined();
      else expect([sent, fate]).toEqual([made?.value, made?.numbers ? "sent" : "withheld"]);
    }
    expect(new Set(seen.lines.map(({ fate }) => fate)).size).toBe(3);
    const later = preview(rated, solicitation(shown, 2), passed, woman, ledger);
    const fates = new Set(later.lines.map(({ fate }) => fate));
    expect(fates).toContain("sent_before");
    expect(fates).toContain("withheld_before");
  });

  it("is the same whether its long part was done ahead or not", () => {
    const shown = disclosure({ scheme: "cmpss", n: 60 });
    const [passed, asked] = [accepted(shown), solicitation(shown)];
    const before = preview(ratings(shown, 3, 0.4), asked, passed, man, new Ledger(secret()));
    const ahead = accepted(disclosure({ scheme: "cmpss", n: 60 }));
    const rated = ratings(shown, 3, 0.4);
    const ledger = new Ledger(secret());
    expect([...planAhead(rated, asked, ahead, man, ledger)]).toHaveLength(8);
    expect(preview(rated, asked, ahead, man, ledger).report.text).toBe(before.report.text);
    expect(ledger.decided.size).toBe(0);
    const plain = accepted(disclosure());
    const nothing = planAhead(rated, asked, plain, man, ledger);
    expect([...nothing]).toEqual([]);
  });

  it("is shown with the numbers that it is made by", () => {
    const shown = disclosure({ scheme: "cmpss", n: 60 });
    const rated = ratings(shown, 3, 0.4);
    const ledger = new Ledger(secret());
    const { lines } = preview(rated, solicitation(shown), accepted(shown), woman, ledger);
    const all = shown.items.map((_, index) => index);
    const answered = all.filter((index) => rated.has(shown.items[index]));
    const value = answered.map((index) => rated.get(shown.items[index])!);
    const hers = counterparts(modelOf(shown) as PositionModel, 0, all, answered, value);
    const adjustment = adjustmentTo(shown, 0, hers);
    expect(lines).toHaveLength(rated.size);
    for (const { item, reveal, shift } of lines) {
      const index = shown.index.get(item)!;
      expect([reveal, shift]).toEqual([adjustment.reveal(index), adjustment.shift(index)]);
    }
  });
});
