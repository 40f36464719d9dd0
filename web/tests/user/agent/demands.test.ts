import { describe, expect, it } from "vitest";
import { Home, MemoryStore } from "../../../src/index";
import { Demands, USUAL } from "../../../src/user/agent/demands";
import { exportDevice, importDevice } from "../../../src/user/agent/transfer";

const ADDRESS = "https://films.example";
const PHRASE = "correct horse battery";
const demands = Demands.make({
  ...USUAL,
  auditors: ["1".repeat(64)],
  require_certificate: true,
  most_auc: 550_000,
});

describe("what is demanded", () => {
  it("holds until it is changed, and goes with the device", async () => {
    const [here, there] = [new MemoryStore(), new MemoryStore()];
    const home = await Home.open(here);
    expect(home.demands.text).toBe(USUAL.text); // the control
    await home.keepDemands(demands);
    expect((await Home.open(here)).demands.text).toBe(demands.text);
    const file = await exportDevice(here, ADDRESS, PHRASE);
    await importDevice(file, PHRASE, there, ADDRESS);
    expect((await Home.open(there)).demands.text).toBe(demands.text);
  }, 60_000);

  it.each(["{}", demands.text.replace("550000", "450000"), demands.text.slice(1)])(
    "is not taken for nothing where it is damaged: %s",
    async (text) => {
      const store = new MemoryStore();
      await (await Home.open(store)).keepDemands(demands);
      await store.write({ demands: text });
      await expect(Home.open(store)).rejects.toThrow();
    },
  );

  it("is erased with the person", async () => {
    const store = new MemoryStore();
    const home = await Home.open(store);
    await home.keepDemands(demands);
    await home.erase();
    expect(home.demands.text).toBe(USUAL.text);
    expect(await store.read()).toEqual({});
  });
});
