import { describe, expect, test } from "vitest";
import {
  AwayError,
  ChangedElsewhereError,
  MidpointError,
  RefusedError,
  StorageError,
} from "../../../src/index";
import { failureOf } from "../../../src/page/session/failures";
import { NotOpenedError } from "../../../src/page/session/storage";

describe("a failure", () => {
  const noticed = (error: unknown, isOpen: boolean) => {
    const failure = failureOf(error, isOpen);
    return failure.kind === "note" ? failure.notice : failure.kind;
  };

  test("that passes never offers erasing", () => {
    const passing = [
      new AwayError("away"),
      new ChangedElsewhereError(),
      new StorageError("busy"),
      new NotOpenedError("busy"),
      new DOMException("full", "QuotaExceededError"),
      new TypeError("a mistake of the page"),
    ];
    for (const isOpen of [true, false]) {
      const seen = passing.map((error) => noticed(error, isOpen));
      expect(seen.slice(0, 5)).toEqual(["away", "otherTab", "storage", "noOpening", "storage"]);
      expect(seen).not.toContain("badStorage");
    }
  });

  test("of what was kept is not laid at the service's door, and vice versa", () => {
    const refused = new RefusedError("not_json", "this is not JSON");
    expect([noticed(refused, false), noticed(refused, true)]).toEqual(["badStorage", "refused"]);
    const broken = new MidpointError("the seal is broken");
    expect([noticed(broken, false), noticed(broken, true)]).toEqual(["badStorage", "failed"]);
  });
});
