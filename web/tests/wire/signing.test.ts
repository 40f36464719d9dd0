import { expect, it } from "vitest";
import { Entry } from "../../src/wire/record";
import { Signed, verify } from "../../src/wire/signing";
import { ANALYST } from "../support/made_up";

it("takes nothing from a key that anybody can sign for", () => {
  const nobody = `01${"00".repeat(31)}`; // the neutral element: 0 is a signature of everything
  const entry = Entry.make({ sequence: 0, disclosure: "0".repeat(64), time: 1, key: nobody });
  const signature = nobody + "00".repeat(32);
  expect(verify(Signed.make({ body: entry.text, signature }), nobody, Entry)).toBe(false);
  const hers = Entry.make({ ...entry, key: ANALYST.public }); // the control
  expect(verify(ANALYST.seal(Entry, hers), ANALYST.public, Entry)).toBe(true);
});
