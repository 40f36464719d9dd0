/** Where a service is, in one spelling, and what is named after that. */

import { addressOf } from "../user/agent/address";

/** What the manifest allows to be reached over plain HTTP. */
const HERE = new Set(["localhost", "127.0.0.1"]);
const PREFIX = "midpoint/";

/** Return the origin of an address that she is on or typed; null if no service can be there. */
export function serviceOf(text: string): string | null {
  const typed = text.trim();
  const whole = /^[a-z][a-z0-9+.-]*:\/\//i.test(typed) ? typed : `https://${typed}`;
  try {
    const { origin, hostname } = new URL(whole);
    const address = addressOf(origin);
    return address.startsWith("https:") || HERE.has(hostname) ? address : null;
  } catch {
    return null;
  }
}

/**
 * The permission that talking to a service needs.
 *
 * Chromium's patterns may name the port, so they name it; Firefox's may not, and hold for all.
 */
export function patternOf(address: string, withPort: boolean): string {
  const { protocol, host, hostname } = new URL(address);
  return `${protocol}//${withPort ? host : hostname}/*`;
}

/** The database of what is kept about one service. */
export function databaseOf(address: string): string {
  return PREFIX + address;
}

/** The service whose database has this name, or null if it is no such name. */
export function addressIn(database: string): string | null {
  const address = database.startsWith(PREFIX) ? database.slice(PREFIX.length) : "";
  return address !== "" && serviceOf(address) === address ? address : null;
}

/** The extension's own page for one service, or to choose one. */
export function pageFor(address: string | null): string {
  return address === null ? "page.html" : `page.html?service=${encodeURIComponent(address)}`;
}
