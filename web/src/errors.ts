/** What a person can mend: the message names the place and the remedy. */
export class MidpointError extends Error {
  override name = "MidpointError";
}
