import type { RequireOnlyOne } from "../../index";

/** Where the page runs: it comes from a service, or with an extension. */
export interface Installation {
  /** The service that it talks to. */
  readonly address: string;
  /** The browser's database of what is kept about this service. */
  readonly database: string;
  /** Whether the browser keeps that for good without being asked. */
  readonly lasting: boolean;
  /** Whether any witness may be asked; a service's page may ask only those that the service names. */
  readonly anyWitness: boolean;
  /** Refuses a service that is kept under another address, if that can be seen. */
  readonly requireOnlyOne?: RequireOnlyOne;
}
