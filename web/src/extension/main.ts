/** The extension's page: the same page as a service's own, for the service that she allowed. */

import { el, fill } from "../page/controls/dom";
import { openPage } from "../page/page";
import { databaseOf, pageFor, serviceOf } from "./address";
import { chooser } from "./chooser";
import { onlyOne } from "./kept";
import { hideOrigin, isAllowed, onChange } from "./permission";
import { texts } from "./texts";

async function open(root: HTMLElement, bar: HTMLElement): Promise<void> {
  const address = serviceOf(new URLSearchParams(location.search).get("service") ?? "");
  const allowed = address !== null && (await isAllowed(address));
  onChange(async () => {
    if (address !== null && (await isAllowed(address)) !== allowed) location.reload();
  });
  if (!allowed) return chooser(root, address);
  await hideOrigin();
  fill(
    bar,
    el("span", {}, `${texts.service} `, el("strong", {}, address)),
    el("a", { href: pageFor(null) }, texts.others),
  );
  const database = databaseOf(address);
  // The manifest asks for unlimited storage, which browsers do not clear.
  const requireOnlyOne = onlyOne(address);
  openPage(root, { address, database, lasting: true, anyWitness: true, requireOnlyOne });
}

const [bar, root] = ["service", "page"].map((id) => document.getElementById(id));
if (bar && root) void open(root, bar);
