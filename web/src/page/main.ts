/** The page as a service serves it: it talks to where it came from. */

import { openPage } from "./page";

const root = document.getElementById("page");
if (root) {
  openPage(root, {
    address: location.origin,
    database: "midpoint",
    lasting: false,
    anyWitness: false,
  });
}
