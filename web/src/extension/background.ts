/** The extension's button: open its own page for the site that she is on. */

import { pageFor, serviceOf } from "./address";
import { api } from "./browser";

api.action.onClicked.addListener(({ url }) => {
  const page = pageFor(url === undefined ? null : serviceOf(url));
  void api.tabs.create({ url: api.runtime.getURL(page) });
});
