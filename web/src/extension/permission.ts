/** Which services the extension may talk to, and what they see of it. */

import { patternOf } from "./address";
import { api } from "./browser";

const OWN = new URL(api.runtime.getURL(""));
const origins = (address: string) => ({
  origins: [patternOf(address, OWN.protocol !== "moz-extension:")],
});

/** Whether she allowed it. */
export function isAllowed(address: string): Promise<boolean> {
  return api.permissions.contains(origins(address));
}

/** Have the browser ask her; it does so only while she presses a button. */
export function ask(address: string): Promise<boolean> {
  return api.permissions.request(origins(address));
}

/** Withdraw it. */
export async function withdraw(address: string): Promise<void> {
  if (await isAllowed(address)) await api.permissions.remove(origins(address));
}

/** Call back when she allowed or withdrew something, here or in the browser's settings. */
export function onChange(changed: () => void): void {
  api.permissions.onAdded.addListener(changed);
  api.permissions.onRemoved.addListener(changed);
}

/**
 * Send no `Origin` to the services that she allowed.
 *
 * It would name the extension, and Firefox gives each installation a name of its own: services
 * could know her by it, one from the other and after *forget me*.
 */
export function hideOrigin(): Promise<void> {
  const action = {
    type: "modifyHeaders",
    requestHeaders: [{ header: "origin", operation: "remove" }],
  };
  const condition = { initiatorDomains: [OWN.host], resourceTypes: ["xmlhttprequest"] };
  const rule = { id: 1, action, condition };
  return api.declarativeNetRequest.updateSessionRules({ removeRuleIds: [1], addRules: [rule] });
}
