/** A small honest service on a real port, which records what it is sent and lies on request. */
import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import {
  Certificates,
  Chain,
  type Disclosure,
  PanelMembership,
  PanelRatings,
  Problem,
  Receipt,
  Report,
  Scores,
  type Signed,
  Solicitation,
  SolicitationRequest,
} from "../../src/index";
import { chain, titlesOf } from "./made_up";

export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly token: string | undefined;
  readonly type: string | undefined;
  readonly body: string;
}

type Reply = { status: number; text: string };
/** What to do instead of answering; true if it did something. */
type Trick = (seen: Seen, response: ServerResponse) => boolean;

interface Person {
  round: Solicitation | undefined;
  rounds: number;
  readonly asked: Set<string>;
  readonly reports: Map<string, string>;
}

export class Service {
  readonly seen: Seen[] = [];
  readonly people = new Map<string, Person>();
  /** What members of the panel shared, by token. */
  readonly members = new Map<string, string>();
  shown: Disclosure[];
  entries: Signed[];
  certificates: Signed[] = [];
  /** What it says as a witness of another service. */
  statement: Signed | undefined;
  trick: Trick = () => false;
  open = true;
  readonly #server: Server;

  constructor(...shown: Disclosure[]) {
    this.shown = shown;
    this.entries = chain(shown);
    this.#server = createServer((request, response) => void this.#serve(request, response));
  }

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  publish(next: Disclosure): void {
    this.shown.push(next);
    this.entries = chain(this.shown);
  }

  get current(): Disclosure {
    return this.shown[this.shown.length - 1];
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    const token = request.headers.authorization;
    const { method = "", url: path = "" } = request;
    const body = Buffer.concat(pieces).toString();
    const seen = { method, path, token, type: request.headers["content-type"], body };
    this.seen.push(seen);
    if (this.trick(seen, response)) return;
    const { status, text } = this.#answer(seen);
    response.writeHead(status, { "Content-Type": "application/json" }).end(text);
  }

  #answer({ method, path, token, body }: Seen): Reply {
    const published = this.#public(method, path);
    if (published !== undefined) return { status: 200, text: published };
    if (token === undefined) return problem(401, "token_needed");
    if (path === "/v1/panel") return this.#panel(method, token, body);
    const person = this.people.get(token) ?? {
      round: undefined,
      rounds: 0,
      asked: new Set(),
      reports: new Map(),
    };
    if (method === "DELETE") {
      this.people.delete(token);
      return { status: 204, text: "" };
    }
    this.people.set(token, person);
    if (path === "/v1/solicitation") return this.#solicit(person, body);
    if (path === "/v1/reports") return this.#report(person, body);
    const older = /^\/v1\/scores(?:\/([0-9a-f]{64}))?$/.exec(path);
    if (older) return { status: 200, text: this.#scores(older[1]) };
    const reports = [...person.reports.values()].map((text) => JSON.parse(text));
    return { status: 200, text: JSON.stringify({ version: 1, reports }) };
  }

  #panel(method: string, token: string, body: string): Reply {
    const shared = this.members.get(token);
    if (method === "GET") {
      const joined = shared === undefined ? undefined : 1_700_000_000;
      return { status: 200, text: PanelMembership.make({ open: true, joined, shared }).text };
    }
    if (method === "DELETE") this.members.delete(token);
    else this.members.set(token, PanelRatings.parse(body).text);
    return { status: 204, text: "" };
  }

  #public(method: string, path: string): string | undefined {
    if (method !== "GET") return undefined;
    if (path === "/v1/chain") return Chain.make({ entries: this.entries }).text;
    if (path === "/v1/witness") return this.statement?.text;
    if (path === "/v1/chain/head") return this.entries[this.entries.length - 1].text;
    const titles = /^\/v1\/catalogues\/([0-9a-f]{64})$/.exec(path);
    if (titles) return this.shown.map(titlesOf).find(({ digest }) => digest === titles[1])?.text;
    const figures = /^\/v1\/disclosures\/([0-9a-f]{64})(\/certificates)?$/.exec(path);
    if (figures?.[2]) return Certificates.make({ certificates: this.certificates }).text;
    return this.shown.find(({ digest }) => digest === figures?.[1])?.text;
  }

  #solicit(person: Person, body: string): Reply {
    const { disclosure, after = -1, superseded } = SolicitationRequest.parse(body);
    const older = superseded && this.shown.some(({ digest }) => digest === disclosure);
    if (disclosure !== this.current.digest && !older) return problem(409, "not_current");
    if (!person.round) {
      const fresh = this.current.items.filter((item) => !person.asked.has(item)).slice(0, 5);
      const round = Math.max(person.rounds, after + 1);
      person.rounds = round + 1;
      person.round = Solicitation.make({ disclosure, round, items: fresh, open: this.open });
    }
    return { status: 200, text: person.round.text };
  }

  #report(person: Person, body: string): Reply {
    const report = Report.parse(body);
    const before = person.reports.get(report.id);
    if (before === undefined && report.round !== person.round?.round) {
      return problem(409, "round_unknown");
    }
    if (before !== undefined && before !== body) return problem(409, "report_changed");
    for (const item of person.round?.items ?? []) person.asked.add(item);
    for (const [item] of report.answers) person.asked.add(item);
    person.reports.set(report.id, body);
    person.round = undefined;
    const receipt = Receipt.make({ report: sha256(body), answers: person.asked.size });
    return { status: before === undefined ? 201 : 200, text: receipt.text };
  }

  #scores(older?: string): string {
    const by = this.shown.find(({ digest }) => digest === older) ?? this.current;
    const { items, digest: disclosure, scale } = by;
    const middle = (scale.low + scale.high) / 2;
    const score = items.map((_, j) => middle + ((j * 7919) % 65536));
    return Scores.make({ disclosure, items, score, deviation: items.map(() => 1000) }).text;
  }
}

export function problem(status: number, code: string): Reply {
  return { status, text: Problem.make({ code, message: `it is ${code}` }).text };
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
