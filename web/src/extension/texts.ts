/** Every English sentence of the extension beyond those of the page. */

export const texts = {
  title: "Midpoint, from your own browser",
  lead: "This page was installed with your browser extension. No service sent it, and no service can change it.",
  allowTitle: (address: string) => `Use Midpoint at ${address}?`,
  allowLead:
    "Your browser asks you next whether the extension may talk to this address. It then reads what the service publishes, checks it here, and sends nothing before you press send.",
  allow: "Allow and open",
  notAllowed: "Not allowed, so nothing was asked or sent. You can allow it at any time.",
  otherPerson:
    "If you have rated on the service's own page, that page keeps another secret, and the service would see two people with the same ratings. Choose Forget me there first.",
  openTitle: "Open a service",
  address: "Address of the service",
  addressNote: "Or go to its site and press the extension's button there.",
  open: "Open",
  badAddress:
    "No service can be there. Write https://host; plain HTTP is for localhost and 127.0.0.1 only.",
  knownTitle: "Services you have opened",
  remove: "Remove",
  removeOf: (address: string) => `Remove ${address}`,
  removed: (address: string) => `${address} is removed, with all that was kept about it here.`,
  withdrawn: (address: string) =>
    `The extension may not talk to ${address} any more. The ledger of what you sent there is kept: without it the same titles would be decided again. To erase it, open the service and choose Forget me.`,
  service: "Service",
  others: "Other services",
};
