/** What a person can correct: the message says where the mistake is and what helps. */
export class MidpointError extends Error {
  override name = "MidpointError";
}
