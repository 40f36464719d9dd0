import { describe, expect, it } from "vitest";
import {
  join,
  leave,
  MemoryStore,
  membership,
  PanelRatings,
  RefusedError,
  toShare,
} from "../../../src/index";
import { exportDevice, importDevice } from "../../../src/user/agent/transfer";
import { ratings } from "../../support/made_up";
import { problem } from "../../support/service";
import { agentAt, serve, shown, woman } from "../../support/visits";

const PHRASE = "correct horse battery";
const NAMES = { gender: "F" };
const rated = ratings(shown, 1, 0.3);

async function answered() {
  const [service, address] = await serve(shown);
  const store = new MemoryStore();
  const agent = await agentAt(address, store);
  await agent.connect();
  await agent.solicit();
  await agent.answer(rated, woman);
  await agent.submit();
  return { service, address, store, agent };
}

describe("the panel", () => {
  it("is shared with only after she joins, and then all of it", async () => {
    const { service, agent } = await answered();
    const sent = () => service.seen.some(({ body }) => body.includes('"gender"'));
    const preview = toShare(agent, NAMES);
    expect((await membership(agent)).joined).toBeUndefined();
    await agent.export();
    expect(sent()).toBe(false);
    expect((await join(agent, NAMES)).text).toBe(preview.text);
    expect(sent()).toBe(true); // the same look sees it now
    expect(service.members.get(`Bearer ${agent.home.memberToken}`)).toBe(preview.text);
    expect(new Map(preview.ratings)).toEqual(new Map([...rated]));
    expect(preview.category).toEqual([["gender", "F"]]);
  });

  it("knows her under another pseudonym than her reports", async () => {
    const { service, agent } = await answered();
    await join(agent, NAMES);
    expect(agent.home.memberToken).not.toBe(agent.home.token);
    expect([...service.people.keys()]).toEqual([`Bearer ${agent.home.token}`]);
  });

  it("erases what she shared when she leaves, and nothing else", async () => {
    const { service, agent } = await answered();
    const shared = await join(agent, NAMES);
    expect((await membership(agent)).ratings?.text).toBe(shared.text);
    expect(JSON.parse(await agent.export()).panel.shared).toBe(shared.text);
    await leave(agent);
    expect(service.members.size).toBe(0);
    expect(service.people.size).toBe(1);
    expect(JSON.parse(await agent.export()).panel).toEqual({ open: true, version: 1 });
  });

  it("is erased with her, also by a device that does not know that she joined", async () => {
    const { service, address, agent } = await answered();
    await join(agent, NAMES);
    const other = await agentAt(address); // the same secret in an empty store
    await other.forget();
    expect(service.members.size).toBe(0);
    expect(service.people.size).toBe(0);
  });

  it("leaves a mark here, so that nothing replaces the secret that leads out of it", async () => {
    const [, address] = await serve(shown);
    const [hers, here] = [new MemoryStore(), new MemoryStore()];
    await agentAt(address, hers);
    const member = await agentAt(address, here);
    await member.connect();
    await member.home.keepRatings(rated);
    await join(member, NAMES);
    const backup = await exportDevice(hers, address, PHRASE, { backup: true });
    const replacing = importDevice(backup, PHRASE, here, address);
    await expect(replacing).rejects.toThrow("joined the panel here");
    await leave(member);
    await importDevice(backup, PHRASE, here, address); // the control
  }, 60_000);

  it("takes no wrong category and no empty list, and sends nothing then", async () => {
    const { service, address, agent } = await answered();
    await expect(join(agent, { gender: "X" })).rejects.toThrow("needs one of");
    await expect(join(agent, {})).rejects.toThrow("needs one of");
    const nobody = await agentAt(address);
    await nobody.connect();
    expect(() => toShare(nobody, NAMES)).toThrow("nothing to share yet");
    expect(service.members.size).toBe(0);
  });

  it("may be closed, and nonsense is refused", async () => {
    const { service, agent } = await answered();
    const { status, text } = problem(409, "panel_closed");
    service.trick = ({ path }, response) =>
      path === "/v1/panel" && Boolean(response.writeHead(status).end(text));
    await expect(join(agent, NAMES)).rejects.toThrow("panel_closed");
    for (const nonsense of ["null", "{}", '{"joined":1,"open":true,"version":1}', "?"]) {
      service.trick = ({ path }, response) =>
        path === "/v1/panel" && Boolean(response.writeHead(200).end(nonsense));
      await expect(membership(agent)).rejects.toThrow(RefusedError);
    }
  });

  it("has a message with one order", () => {
    const disclosure = "0".repeat(64);
    const category: [string, string][] = [["gender", "F"]];
    const make = (items: [string, number][]) =>
      PanelRatings.make({ disclosure, category, ratings: items });
    expect(() => make([])).toThrow(RefusedError);
    expect(() =>
      make([
        ["b", 1],
        ["a", 1],
      ]),
    ).toThrow("ascending");
  });
});
