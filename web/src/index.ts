/** The user's room of Midpoint for the browser: everything that ever touches the secret. */

export { MidpointError } from "./errors";
export { addressOf } from "./user/agent/address";
export { Agent } from "./user/agent/agent";
export {
  AwayError,
  Channel,
  type Patience,
  type Request,
  ServiceError,
  UnusableError,
} from "./user/agent/channel";
export { bestForEveryone } from "./user/agent/everyone";
export { type Evidence, evidence, marginals } from "./user/agent/evidence";
export {
  Home,
  KnownElsewhereError,
  MovedError,
  Notes,
  PIN,
  type RequireOnlyOne,
} from "./user/agent/home";
export { join, leave, membership, toShare } from "./user/agent/panel";
export { type Fate, type Line, type Preview, preview } from "./user/agent/preview";
export type { Fetched, Rateable, Standing, Terms } from "./user/agent/standing";
export { verifyCertificate } from "./user/checks/certificate";
export {
  type Accepted,
  type CheckOptions,
  checkDisclosure,
  checkTitles,
} from "./user/checks/disclosure";
export { readStatement } from "./user/checks/links";
export { Pin } from "./user/checks/pin";
export { Proof } from "./user/checks/proof";
export { PURPOSES, toss, type Uniforms } from "./user/core/coins";
export { correct, type Recommendation, tasteMove } from "./user/core/correction";
export {
  type Adjustment,
  adjust,
  adjustmentTo,
  type Counterparts,
  counterparts,
  identity,
  revealProbability,
  valueShift,
} from "./user/core/counterparts";
export { decide, type Plan, plan, type Ratings, requireLegal } from "./user/core/decisions";
export { outputDistribution } from "./user/core/discrete";
export { BrokenSealError, type Decision, Ledger, Round } from "./user/core/ledger";
export { type Obfuscated, obfuscate } from "./user/core/obfuscation";
export { DeviceSecret, PrivateCategory } from "./user/core/private";
export { modelOf, type PositionModel, type Stratum } from "./user/parameters";
export {
  ChangedElsewhereError,
  IndexedDbStore,
  MemoryStore,
  StorageError,
  type Store,
  type Texts,
} from "./user/store";
export { digest, encode } from "./wire/canonical";
export { correction } from "./wire/corrections";
export {
  cellsOf,
  Disclosure,
  type FeatureNames,
  isUnary,
  numbersOf,
  type RatingScale,
  schemeOf,
} from "./wire/disclosure";
export {
  PanelMembership,
  PanelRatings,
  Problem,
  Receipt,
  Report,
  Scores,
  Solicitation,
  SolicitationRequest,
} from "./wire/exchange";
export { fromFixed, GRAIN, MILLION, ONE, toFixed } from "./wire/fixed";
export { Catalogue, Certificates, Chain, Witnesses, type Wording } from "./wire/listing";
export type { Kind, Message } from "./wire/message";
export { checkNumbers } from "./wire/numbers";
export type { Prior } from "./wire/positions";
export { Certificate, Entry, WitnessStatement } from "./wire/record";
export { REFUSALS, type Refusal, RefusedError } from "./wire/refusal";
export { SCHEMES, type Scheme, type ValueMap } from "./wire/scheme";
export { Signed, SigningKey, verify } from "./wire/signing";
