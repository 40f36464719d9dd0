/** Where a service is, in one spelling. */

import { MidpointError } from "../../errors";

const HERE = /^(?:localhost|127(?:\.[0-9]+){3}|\[::1\])$/;

/**
 * Return the address without a slash at its end; refuse one that leaks or misleads.
 *
 * Over plain HTTP everyone on the way reads the pseudonym, so it is for this machine only, unless
 * she was warned (`plainHttp`).
 */
export function addressOf(text: string, plainHttp = false): string {
  const url = URL.canParse(text.trim()) ? new URL(text.trim()) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || !url.hostname) {
    throw new MidpointError(`"${text}" is no address of a service; write https://host`);
  }
  if (url.username || url.password || url.search || url.hash) {
    throw new MidpointError(`"${text}" carries more than an address; write https://host[:port]`);
  }
  if (!plainHttp && url.protocol === "http:" && !HERE.test(url.hostname)) {
    throw new MidpointError(`"${text}" is not encrypted; use https`);
  }
  return url.origin + url.pathname.replace(/\/+$/, "");
}
