import fc from "fast-check";
import { expect, test } from "vitest";
import { correct, ONE, PrivateCategory, Scores } from "../../../src/index";
import { reranked } from "../../../src/page/model/conversions";
import { disclosure } from "../../support/made_up";

test("ranking again for another category is what the library would have ranked", () => {
  const shown = disclosure();
  const n = shown.items.length;
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 6 * ONE }), { minLength: n, maxLength: n }),
      (score) => {
        const scores = Scores.make({
          disclosure: shown.digest,
          items: shown.items,
          score,
          deviation: score.map(() => ONE),
        });
        const [{ name, categories }] = shown.features;
        const as = (category: string) =>
          correct(scores, shown, new PrivateCategory({ [name]: category }), new Set(), []);
        expect(reranked(as(categories[0]), shown, 0, 1)).toEqual(as(categories[1]));
      },
    ),
  );
});
