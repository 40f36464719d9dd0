import { expect, test } from "vitest";
import { addressIn, databaseOf, pageFor, patternOf, serviceOf } from "../../src/extension/address";

test.each([
  ["https://films.example/a/page?of=hers#here", "https://films.example"],
  ["films.example:8443", "https://films.example:8443"],
  ["http://localhost:8000/", "http://localhost:8000"],
])("on %s the service is %s", (typed, address) => expect(serviceOf(typed)).toBe(address));

test.each([
  "http://films.example",
  "http://[::1]:8000",
  "about:blank",
  "chrome://extensions",
  "file:///home/her/notes.html",
  "javascript:alert(1)",
  "",
])("nothing is opened for %s", (typed) => expect(serviceOf(typed)).toBeNull());

test("the permission is for one origin, as far as the browser can say that", () => {
  expect(patternOf("https://films.example:8443", true)).toBe("https://films.example:8443/*");
  expect(patternOf("https://films.example:8443", false)).toBe("https://films.example/*");
});

test("each service has a database, and no other database is taken for one", () => {
  const [here, there] = ["https://films.example", "https://films.example:8443"];
  expect(databaseOf(here)).not.toBe(databaseOf(there));
  expect(addressIn(databaseOf(there))).toBe(there);
  for (const other of ["midpoint", "midpoint/", "midpoint/films", "other"]) {
    expect(addressIn(other)).toBeNull();
  }
});

test("an address cannot add to the page's own address", () => {
  expect(pageFor("https://films.example")).toBe("page.html?service=https%3A%2F%2Ffilms.example");
  expect(pageFor(null)).toBe("page.html");
});
