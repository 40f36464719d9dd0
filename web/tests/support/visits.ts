/** Agents that visit services on real ports, and what these services saw of them. */
import { afterEach } from "vitest";
import {
  Agent,
  Channel,
  DeviceSecret,
  type Disclosure,
  Home,
  MemoryStore,
  PrivateCategory,
  type Terms,
} from "../../src/index";
import { disclosure, ratings } from "./made_up";
import { Service } from "./service";

/** Long enough for a busy machine; waits between tries are short. */
export const CALM = { attempt: 20_000, total: 20_000, tries: 3, firstWait: 10 };
export const shown = disclosure({ n: 40 });
export const woman = new PrivateCategory({ gender: "F" });
export const man = new PrivateCategory({ gender: "M" });
const running: Service[] = [];

/** Start a service that ends with the test; return it and its address. */
export async function serve(...disclosures: Disclosure[]): Promise<[Service, string]> {
  const service = new Service(...disclosures);
  running.push(service);
  return [service, await service.start()];
}

export async function agentAt(
  address: string,
  store = new MemoryStore(),
  terms: Terms = {},
  patience = CALM,
): Promise<Agent> {
  const home = await Home.open(store, new DeviceSecret(new Uint8Array(32).fill(5)));
  return new Agent(address, home, terms, new Channel(patience));
}

/** Do everything once. */
export async function walk(agent: Agent, category: PrivateCategory): Promise<void> {
  await agent.connect();
  for (const seed of [1, 2]) {
    await agent.solicit();
    await agent.answer(ratings(shown, seed, 0.3), category);
    await agent.submit();
    await agent.recommend(5, category);
  }
  await agent.export();
  await agent.forget();
}

afterEach(async () => {
  await Promise.all(running.splice(0).map((service) => service.stop()));
});
