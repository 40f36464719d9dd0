/** The few functions of the browser that the extension calls, under the names of both browsers. */

/** Something that happens, and whom to call then. */
interface Event<T extends unknown[]> {
  addListener(listener: (...given: T) => void): void;
}

interface Rule {
  readonly id: number;
  readonly action: object;
  readonly condition: object;
}

interface Origins {
  readonly origins: string[];
}

export interface Browser {
  readonly action: { readonly onClicked: Event<[{ readonly url?: string }]> };
  readonly declarativeNetRequest: {
    updateSessionRules(rules: { removeRuleIds: number[]; addRules: Rule[] }): Promise<void>;
  };
  readonly permissions: {
    contains(wanted: Origins): Promise<boolean>;
    request(wanted: Origins): Promise<boolean>;
    remove(given: Origins): Promise<boolean>;
    readonly onAdded: Event<[]>;
    readonly onRemoved: Event<[]>;
  };
  readonly runtime: { getURL(path: string): string };
  readonly tabs: { create(tab: { url: string }): Promise<unknown> };
}

const { browser, chrome } = globalThis as unknown as { browser?: Browser; chrome: Browser };

/** The browser, whichever it is. */
export const api: Browser = browser?.runtime ? browser : chrome;
