import { expect, test } from "vitest";
import { addressOf } from "../../../src/index";

test.each([
  ["https://Films.example/", "https://films.example"],
  ["https://films.example:8443/midpoint/", "https://films.example:8443/midpoint"],
  ["http://127.0.0.1:8000", "http://127.0.0.1:8000"],
  ["http://[::1]:8000/", "http://[::1]:8000"],
])("%s has one spelling", (typed, address) => expect(addressOf(typed)).toBe(address));

test.each([
  ["films.example", "no address"],
  ["ftp://films.example", "no address"],
  ["https://her:name@films.example", "more than an address"],
  ["https://films.example/?who=her", "more than an address"],
  ["http://films.example", "not encrypted"],
  ["http://127.0.0.1.films.example", "not encrypted"],
])("%s is refused", (typed, why) => expect(() => addressOf(typed)).toThrow(why));
