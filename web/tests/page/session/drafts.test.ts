import fc from "fast-check";
import { expect, test } from "vitest";
import { Drafts } from "../../../src/page/session/drafts";

test("undoing everything leads back to the start, step by step", () => {
  const change = fc.tuple(fc.constantFrom("a", "b", "c"), fc.constantFrom(null, 1, 2, 3));
  fc.assert(
    fc.property(fc.array(change), (changes) => {
      const drafts = new Drafts(new Map([["a", 2]]));
      const past = [drafts.ratings];
      for (const [item, value] of changes) if (drafts.set(item, value)) past.push(drafts.ratings);
      for (const before of past.slice(0, -1).reverse()) {
        drafts.undo();
        expect(drafts.ratings).toEqual(before);
      }
      expect(drafts.undo()).toBeNull();
    }),
  );
});
