/** All views that nobody needs before the first check is done; loaded after that (`later`). */

export { changeDialog } from "./change";
export { everyoneView } from "./everyone";
export { forYouView } from "./foryou";
export { showMeasured } from "./ledger/certificates";
export { demandsDialog } from "./ledger/demands";
export { forgetDialog, ledgerView, save } from "./ledger/ledger";
export { panelPart } from "./ledger/panel";
