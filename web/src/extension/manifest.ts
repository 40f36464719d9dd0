/** The extension's manifests: one for each browser, different only where they must be. */

export type Target = "chromium" | "firefox";
export const TARGETS: readonly Target[] = ["chromium", "firefox"];

/**
 * A public key, so that Chromium gives everyone's copy the same name.
 *
 * Unpacked without one, the name follows from the directory, and a service could know her by it.
 */
const KEY = [
  "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAqYz5Wu1e9DQ0NtEIgTHdnqQWGo4MapY796tFRlV6",
  "HaLUXqEP44FjjetOpFA9Y09VmuywvDLlWNqX6AOmJwANlJ6LzOfk1jXJo/Yw061SZ3u6TaXsDFqQ+EaB+w37",
  "TJyI0Om5RLUrp0zcpFLJECbVfpcvrTgiHdL3qxfoS9UYH0Jpt8s0mVwEy9DWqnLVzbcTULJpvbU0Smrdehry",
  "VuL2FnDWAHz+em3wdQABV8MQ5FFxIIZm0OIxZY6RVk4GipPYzR+Y6Clcu1CBBNJSBk8iuoObsqsL8EjlLeZ1",
  "WNIAG/wWsia3O0DghL8Ki2rkRaEodjldTYv8YeSxZU6GwQvlSQIDAQAB",
].join("");

/** Run the files of the package only; talk to services over HTTPS, or on this machine. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src https: http://localhost:* http://127.0.0.1:*",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const OWN = {
  chromium: {
    background: { service_worker: "background.js", type: "module" },
    key: KEY,
    minimum_chrome_version: "120",
  },
  firefox: {
    background: { scripts: ["background.js"], type: "module" },
    browser_specific_settings: {
      gecko: { id: "midpoint-extension@midpoint.invalid", strict_min_version: "128.0" },
    },
  },
};

/** Return the manifest for one browser. */
export function manifestOf(target: Target, version: string): object {
  return {
    manifest_version: 3,
    name: "Midpoint",
    version,
    description: "Recommendations from services that you allow, with your secret kept here.",
    icons: { 48: "icons/48.png", 128: "icons/128.png" },
    action: { default_title: "Open Midpoint for this site" },
    // The button shows the address of one tab, at that moment; headers of its own requests.
    permissions: ["activeTab", "declarativeNetRequestWithHostAccess", "unlimitedStorage"],
    optional_host_permissions: ["https://*/*", "http://localhost/*", "http://127.0.0.1/*"],
    content_security_policy: { extension_pages: POLICY },
    incognito: "not_allowed",
    ...OWN[target],
  };
}
