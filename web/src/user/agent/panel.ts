/**
 * Joining the panel, and leaving it: the one step by which a category leaves the device.
 *
 * A member shares her category and all ratings of this device, as they are. She does so once, when
 * she says so; what she rates later stays here until she shares again. The service knows her there
 * under another pseudonym than that of her reports, and keeps both apart.
 */
import { MidpointError } from "../../errors";
import { compare } from "../../wire/canonical";
import { PanelMembership, PanelRatings } from "../../wire/exchange";
import { PrivateCategory } from "../core/private";
import type { Agent } from "./agent";
import { JOINED } from "./home";

/** Names of categories by feature. */
type Names = Readonly<Record<string, string>>;

/**
 * Return what joining would send: her category by feature, and her ratings as they are.
 *
 * Nothing is sent here. Ratings of titles that the service no longer has are left out.
 */
export function toShare(agent: Agent, names: Names): PanelRatings {
  const { disclosure } = agent.standing.accepted;
  PrivateCategory.of(disclosure, names);
  const known = new Set(disclosure.items);
  const sorted = <T>(pairs: Iterable<readonly [string, T]>) =>
    [...pairs].sort(([a], [b]) => compare(a, b)).map(([key, value]): [string, T] => [key, value]);
  const ratings = sorted(agent.home.ratings).filter(([item]) => known.has(item));
  if (ratings.length === 0) {
    throw new MidpointError("there is nothing to share yet; rate some titles first");
  }
  const category = sorted(Object.entries(names));
  return PanelRatings.make({ disclosure: disclosure.digest, category, ratings });
}

/** Send what she agreed to share; joined before, it stands instead of what she shared then. */
export async function join(agent: Agent, names: Names): Promise<PanelRatings> {
  agent.home.requireRemembered();
  const shared = toShare(agent, names);
  await agent.home.keep(JOINED, "yes");
  await agent.asMember("POST", shared);
  return shared;
}

/** Have the service erase all that she shared; her reports and this device stay as they are. */
export async function leave(agent: Agent): Promise<void> {
  agent.home.requireRemembered();
  await agent.asMember("DELETE");
  await agent.home.keep(JOINED, undefined);
}

/** Ask whether people may join the panel, and what the service keeps of her there. */
export async function membership(agent: Agent): Promise<PanelMembership> {
  agent.home.requireRemembered();
  return PanelMembership.parse(await agent.asMember("GET"));
}
