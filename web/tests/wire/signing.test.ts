import { ed25519 } from "@noble/curves/ed25519.js";
import { bytesToNumberLE, numberToBytesLE } from "@noble/curves/utils.js";
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js";
import fc from "fast-check";
import { expect, it } from "vitest";
import { Entry } from "../../src/wire/record";
import { Signed, SigningKey, verify } from "../../src/wire/signing";
import { ANALYST } from "../support/made_up";

const entry = (key: string, time = 1) =>
  Entry.make({ sequence: 0, disclosure: "0".repeat(64), time, key });

it("takes nothing from a key that anybody can sign for", () => {
  const nobody = `01${"00".repeat(31)}`; // the neutral element: 0 is a signature of everything
  const signature = nobody + "00".repeat(32);
  const signed = Signed.make({ body: entry(nobody).text, signature });
  expect(verify(signed, nobody, Entry)).toBe(false);
  // The control.
  const good = ANALYST.seal(Entry, entry(ANALYST.public));
  expect(verify(good, ANALYST.public, Entry)).toBe(true);
});

it("takes no signature that the terminal refuses", () => {
  // The first half of the signature has a part of order 8; the library by itself does not mind.
  const key = "ea4a6c63e29c520abef5507b132ec5f9954776aebebe7b92421eea691446d22c";
  const body = entry(key).text;
  const signature =
    "b15bf26424d1b69dd33b7a9e57db5de4a2aadea4a2a051efd9bfd6af74165d2b" +
    "90b909c517918624ee540f2ed4a18d6cf130714dd252c151b17341bb379a8101";
  const message = new TextEncoder().encode(`midpoint/v1/entry\n${body}`);
  const taken = ed25519.verify(hexToBytes(signature), message, hexToBytes(key), { zip215: false });
  expect(taken).toBe(true);
  expect(verify(Signed.make({ body, signature }), key, Entry)).toBe(false);
});

it("takes one signature of a message and no second one made of it", () => {
  const { body, signature } = ANALYST.seal(Entry, entry(ANALYST.public));
  const scalar = bytesToNumberLE(hexToBytes(signature.slice(64))) + ed25519.Point.Fn.ORDER;
  const second = signature.slice(0, 64) + bytesToHex(numberToBytesLE(scalar, 32));
  expect(verify(Signed.make({ body, signature: second }), ANALYST.public, Entry)).toBe(false);
});

it("takes what the library takes of all other signatures", () => {
  const bytes = fc.uint8Array({ minLength: 32, maxLength: 32 });
  fc.assert(
    fc.property(bytes, fc.nat(), fc.option(fc.nat({ max: 511 })), (seed, time, flipped) => {
      const key = new SigningKey(seed);
      const { body, signature } = key.seal(Entry, entry(key.public, time));
      const changed = hexToBytes(signature);
      if (flipped !== null) changed[flipped >> 3] ^= 1 << (flipped & 7);
      const signed = Signed.make({ body, signature: bytesToHex(changed) });
      expect(verify(signed, key.public, Entry)).toBe(flipped === null);
    }),
    { numRuns: 100 },
  );
});
