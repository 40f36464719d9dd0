/** All views that nobody needs before the first check is done; loaded after that (`later`). */

export { panelPart } from "../panel";
export { showMeasured } from "./certificates";
export { changeDialog } from "./change";
export { demandsDialog } from "./demands";
export { everyoneView } from "./everyone";
export { forYouView } from "./foryou";
export { forgetDialog, ledgerView, save } from "./ledger";
