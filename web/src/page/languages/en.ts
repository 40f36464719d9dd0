/**
 * Every English sentence of the page and of the extension; another language is another such file.
 *
 * The site says what its items are called, and whether people rate them or only name those that they
 * have seen, liked or bought: then it has sets, and no stars.
 */

import type { Site } from "../texts";

/** The language's name, as browsers have it. */
const tag = "en";

const CATEGORIES: Record<string, string> = {
  "gender/F": "Female",
  "gender/M": "Male",
  "sex/F": "Female",
  "sex/M": "Male",
};

/** What a feature is called in a sentence. */
function featureName(feature: string): string {
  return feature;
}

/** What a category is called; a name that the page does not know is shown as it is. */
function categoryName(feature: string, category: string): string {
  return CATEGORIES[`${feature}/${category}`] ?? category;
}

const GROUPS: Record<string, string> = {
  "gender/F": "women",
  "gender/M": "men",
  "sex/F": "women",
  "sex/M": "men",
};

/** What the people of a category are called. */
function groupName(feature: string, category: string): string {
  return GROUPS[`${feature}/${category}`] ?? `“${categoryName(feature, category)}”`;
}

/** Made once: it is used for every star. */
const grouped = new Intl.NumberFormat("en");

/** "a", "a and b", "a, b and c". */
function listed(names: readonly string[]): string {
  if (names.length < 2) return names.join("");
  return `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}

/** What is done about a group that answers more often. */
const evened = (share: string) =>
  `So ${share} of its answers are withheld, and an answer says nothing about the group.`;

/** Why what becomes of a rating may change while she rates. */
const sinceThen =
  "Since then you said more, which shows better who is like you. Nothing is final until you send.";

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

/** A share as whole per cent, keeping the ends for what is really there. */
function percent(share: number): string {
  const whole = Math.round(share * 100);
  if (whole >= 100 && share < 1) return "over 99 %";
  if (whole <= 0 && share > 0) return "under 1 %";
  return `${whole} %`;
}

function counted(number: number, one: string, many = `${one}s`): string {
  return `${grouped.format(number)} ${number === 1 ? one : many}`;
}

/** What the page says at one site. */
const sentences = ({ item, items, done, sets }: Site) => ({
  name: "Midpoint",
  skip: "Skip to the content",
  opening: "One moment: reading and checking what the service publishes",

  welcome: {
    title: "Recommendations that do not give you away",
    lead: (secret: string, hidesRated: boolean) => {
      const begin = sets
        ? `Say which ${items} you have ${done}, and get recommendations.`
        : `Rate a few ${items} and get recommendations.`;
      const kept = `Your ${secret} never leaves this browser, and you see every answer before it goes.`;
      if (sets) {
        return `${begin} Before anything is sent, your own browser withholds some of them, so that no single ${item} gives away your ${secret}, named or not. ${kept}`;
      }
      return hidesRated
        ? `${begin} Before anything is sent, your own browser changes some ratings and withholds others. Then no single ${item} gives away your ${secret}, rated or not. ${kept}`
        : `${begin} Before anything is sent, your own browser changes some ratings. Then none of them on its own gives away your ${secret}. ${kept} But which ${items} you rated is not hidden here, and that can reveal something about your ${secret}.`;
    },
    whyTitle: sets ? `What ${items} give away` : "What ratings give away",
    why: "On the film site MovieLens, a program that reads what a woman and a man rated tells who is who 85 times in 100, though neither of them had said. Blind guessing gets 50.",
    example: (title: string, more: string, fewer: string, times: string) =>
      sets
        ? `Here ${more} have ${done} “${title}” ${times} times as often as ${fewer}. One such ${item} says little; fifty say a lot.`
        : `Here ${more} rate “${title}” ${times} times as often as ${fewer}. One such ${item} says little; fifty say a lot.`,
    choose: "What to protect",
    stays:
      "Kept in this browser only, and never sent. It is used here to protect your answers and to rank your recommendations. A wrong choice would protect you less.",
    legend: (feature: string) => `Your ${feature}`,
    several: "This service protects these together, so it needs an answer to each.",
    start: sets ? "Start" : "Start rating",
    keep: "Save",
    cancel: "Cancel",
    missing: (feature: string) => `Choose your ${feature} first. It stays in this browser.`,
    change: "Change what is protected",
    changeNote:
      "Answers already sent or withheld stand as they are: deciding them again would reveal what changed.",
    notMeasured: `What all ${items} reveal together was not measured by any auditor.`,
    measured: (auditor: string, figure: string, against: string) =>
      `All ${items} together can reveal more. ${auditor}, whom you trust, measured it: ${figure} ${against}`,
    claimed: (auditor: string, figure: string, against: string) =>
      `All ${items} together can reveal more. Somebody who signs as “${auditor}” claims: ${figure} ${against} You have not confirmed the key.`,
    /** An AUC in words, where there are two categories to tell apart; else as it is. */
    figure: (auc: number, two: boolean) =>
      two
        ? `of two people who differ in it, the best attack picks the right one ${Math.round(100 * Math.max(auc, 1 - auc))} times in 100; blind guessing gets 50.`
        : `the best attack reaches an AUC of ${auc.toFixed(2)}, where 0.5 is blind guessing and 1 is certainty.`,
    none: "I am in none of these, or do not want to say",
    nothingStored: "No account, no name, no cookie.",
    unprotected: "Nothing is protected",
    protected: (secret: string, features: number) =>
      features === 1 ? `${secret} protected` : secret,
  },

  /** For somebody who says no category. */
  none: {
    why: (secret: string) =>
      `Protection needs your ${secret}: this browser answers as somebody in the middle would. A choice at random would look like protection and be none. Two honest ways are left.`,
    everyone: "Best for everyone",
    everyoneLead:
      "Made in this browser from what the service publishes. You said nothing, and nothing is sent.",
    clear: sets ? "Your choices in the clear" : "Your ratings in the clear",
    clearLead: (secret: string) =>
      `They are sent as they are, and nothing is protected: people who see them can guess your ${secret} as well as from anybody's. What is sent stays sent, also if you choose a category later. You are asked again on your next visit.`,
    agree: "I agree that nothing is protected",
    go: sets ? "Go on in the clear" : "Rate in the clear",
    back: "Back to the choice",
  },

  nav: {
    label: "Parts of the page",
    rate: sets ? capital(done) : "Rate",
    leaves: "What leaves",
    foryou: "For you",
    ledger: "Ledger",
  },

  rate: {
    title: sets ? `Which ${items} have you ${done}?` : `Rate ${items} you have ${done}`,
    lead: `The service asks about these first. Skip what you ${sets ? `have not ${done}` : "do not know"}; five are enough to begin. You can change everything until you send. After that it is final.`,
    search: `Search all ${items}`,
    checking: `The figures that protect you are still loading. You can ${sets ? "begin" : "rate"} already; nothing is sent before they are checked.`,
    placeholder: (number: number) =>
      `Search ${grouped.format(number)} ${number === 1 ? item : items}`,
    clearSearch: "Clear the search",
    filters: `Which ${items} to show`,
    asked: "Asked now",
    all: `All ${items}`,
    yours: sets ? capital(done) : "Rated",
    found: (number: number) => `${counted(number, item, items)} found`,
    alike: (number: number) =>
      `Nothing is spelled like that. ${counted(number, item, items)} with a similar name`,
    none: `No ${item} matches. Try fewer letters.`,
    nothingRated: sets ? "Nothing marked yet." : "Nothing rated yet.",
    nothingAsked: `The service asks about nothing more. You can still ${sets ? "mark" : "rate"} any other ${item}.`,
    keys: sets
      ? "Keys: 1 marks, arrows move, 0 clears, u undoes, / searches"
      : "Keys: 1 to 5 rate, arrows move, 0 clears, u undoes, / searches",
    group: (title: string) => `Your rating of ${title}`,
    star: (value: string) => (value === "1" ? "1 star" : `${value} stars`),
    /** On the button of an item that is only named: pressed, it stays. */
    mark: `${capital(done)} it`,
    marked: done,
    markOf: (title: string) => `${capital(done)} it: ${title}`,
    notRated: "Not rated",
    yes: "Yes",
    no: "No",
    goesAs: (value: string) => (sets ? "will be sent" : `goes as ${value}`),
    sentAs: (value: string) => (sets ? "sent" : `sent as ${value}`),
    withheld: "withheld",
    changed: sets ? "Changed by what you marked since" : "Changed by what you rated since",
    final: "Final: decided in an earlier answer",
    yourRating: (value: string) => `You: ${value}`,
    review: "See what leaves",
    rated: (sent: number, withheld: number) =>
      `${grouped.format(sent)} to send, ${grouped.format(withheld)} withheld. Final once sent.`,
    saidRated: (title: string, value: string, fate: string, changed: number) =>
      `${title}: ${value}, ${fate}${changed > 0 ? `. ${counted(changed, "earlier decision")} changed` : ""}`,
    saidCleared: (title: string) =>
      sets ? `${title}: mark taken back` : `${title}: rating cleared`,
    undo: "Undo",
    undone: (title: string) => `Undone: ${title}`,
    nothingToUndo: "Nothing to undo",
  },

  leaves: {
    title: "What leaves this device",
    lead: "Nothing goes before you press send.",
    empty: `${sets ? "Mark" : "Rate"} ${items} and see here what will be sent, and what is withheld.`,
    yours: "You",
    sent: "Sent",
    withheld: "withheld",
    asSent: "sent",
    summary: (sent: number, withheld: number) =>
      `${counted(sent, "answer")} will be sent, ${grouped.format(withheld)} withheld.`,
    send: "Send this answer",
    sendNone: sets
      ? `I have ${done} none of these, ask others`
      : "I know none of these, ask others",
    sending: "Sending",
    final: (clear: boolean) =>
      clear
        ? "Once sent, this is final: it cannot be changed."
        : `Once sent, this is final, also what is withheld: it cannot be changed. ${sets ? "Say what is true" : "Rate as you feel"}: answers bent to steer the result would undo the protection.`,
    more: (number: number) => `Show ${number} more`,
    fewer: "Show fewer",
    bytes: "Show the exact bytes",
    bytesLead: (bytes: number) =>
      `All that is sent, ${grouped.format(bytes)} bytes, with a random token made by this browser: the only name the service has for you.`,
    pending: "Being worked out after your last change.",
    /** Why something is withheld or changed: `brief` stands on the row, the rest where it is explained. */
    why: {
      withheld: (share: string) =>
        `Your group ${sets ? `has ${done}` : "rates"} this more often than others. ${evened(share)}`,
      withheldLikeOthers: (share: string) =>
        `People like you in your group ${sets ? `have ${done}` : "rate"} this more often than people like you in other groups. ${evened(share)}`,
      withheldOfAll: (share: string, budget: boolean, counts: boolean) =>
        `Of this ${item}, ${share} of all answers are withheld, no matter who gives them: ${budget ? "the service knows too little about it to hide the group otherwise." : "the fewer are sent, the less they reveal together."}${counts ? " Your own list still counts it." : ""}`,
      towards: (by: string, up: boolean) =>
        `The middle between you and people like you in other groups is ${up ? "higher" : "lower"}, by ${by}. Your rating goes there; a coin rounds it.`,
      higher: (by: string) =>
        `Your group rates this above the middle of all groups, by ${by} on average. That is taken out.`,
      lower: (by: string) =>
        `Your group rates this below the middle of all groups, by ${by} on average. That is taken out.`,
      moved:
        "Groups spread their ratings of this differently. Yours goes to the middle; a coin rounds it.",
      alike: "The groups rate this alike, so it goes as it is.",
      same: "The groups differ little at this rating; the coin left it as it is.",
      named: `Your group has not ${done} this more often than others, so it is sent.`,
      namedByCoin: (share: string) =>
        `Of such answers ${share} are withheld; the coin let this one go.`,
      inTheClear: (same: boolean) =>
        `You said no category, so nothing is protected: it goes ${same ? "as it is" : "as the nearest answer that the service takes"}.`,
      average: "An average is sent instead of your rating.",
      notAsked: "Not asked about in this round, so it is not sent.",
      wasSent: (value: string) =>
        `It was to ${sets ? "be sent" : `go as ${value}`} before. ${sinceThen}`,
      wasWithheld: `It was to be withheld before. ${sinceThen}`,
      brief: {
        withheld: sets ? `Your group has ${done} it more often` : "Your group rates it more often",
        withheldLikeOthers: sets
          ? `In your group more like you have ${done} it`
          : "In your group more like you rate it",
        withheldOfAll: (most: boolean) => `${most ? "Most" : "Some"} are withheld from everyone`,
        moved: "Moved to the middle of the groups",
        asItIs: "",
        inTheClear: "Not protected",
        notAsked: "Not asked in this round",
      },
    },
  },

  gauges: {
    title: "What could be guessed",
    lead: (secret: string) =>
      `What somebody could guess of your ${secret}, reading each ${item} on its own. Worked out in this browser, from what the service publishes.`,
    raw: sets ? `From all you have ${done}` : "From what you rated",
    sent: "From what you send",
    sure: (category: string) => `for “${category}”`,
    even: "an even guess",
    /** What a guess is worth that names the wrong category. */
    wrongRaw: (category: string) =>
      `The first guess is wrong: what you ${sets ? "have said" : "rated"} is more usual among “${category}”. Guesses go by averages, so they are wrong about many people. Somebody who makes one does not know that, and may act on it.`,
    wrongSent: (category: string, also: boolean) =>
      `The second guess${also ? ", too," : ""} is wrong: it says “${category}”, as it would of anybody who sends the same.`,
    chance: (share: string) => `${share} even`,
    certain: "certain",
    caution: (values: boolean, hidesRated: boolean) =>
      [
        `Both guesses assume that what the service publishes is true${values || sets ? "." : ", which says nothing about how groups rate."}`,
        hidesRated ? "" : `Which ${items} you rate is not hidden, and is not counted here.`,
        `All ${items} read together can reveal more:`,
      ]
        .filter(Boolean)
        .join(" "),
    measured: `Measured by an auditor, all ${items} together`,
    auc: (auc: string) => `AUC ${auc}`,
    blind: "0.5 blind",
    sureEnd: "1 certain",
    pair: (times: string) =>
      `Of two people who differ in it, the strongest attack found picks the right one ${times} times in 100. Blind guessing gets 50.`,
    several: "How well the strongest attack found distinguishes people.",
    /** Measured against whom: what an attacker knows decides what it finds. */
    against: (adversary: string | undefined, panel: number, outsiders: number) => {
      const people = panel.toLocaleString("en");
      switch (adversary) {
        case undefined:
          return "Measured against whom: the certificate does not say.";
        case "clean":
          return `Measured against somebody who knows this of ${people} people, and not how answers are protected. Somebody who knows more may find more.`;
        case "outsider":
          return `Measured against somebody who knows this of ${outsiders.toLocaleString("en")} other users of this service, whose answers are protected like yours.`;
        case "panel":
        case "published":
          return `Measured against somebody who knows this of ${people} people, and how answers are protected. Somebody who knows it of other users of this service may find more.`;
        default:
          return "Measured against an adversary that this version does not know: the figure says nothing here.";
      }
    },
    named: (percent: string) => `Of all people, ${percent} % can be named with 90 % confidence.`,
    interval: (low: string, high: string, nullLow: string, nullHigh: string) =>
      `Interval ${low} to ${high}. With shuffled labels the strongest of all attacks gets ${nullLow} to ${nullHigh}.`,
    drawn: "The thick line is the interval. The box is what shuffled labels give.",
    attack: (attack: string) => `Strongest attack: ${attack}.`,
    claimed: "Claimed by somebody you have not confirmed",
    claimedMore:
      "Anyone can make a key and sign with it, this service too. Until you confirm the key below, take it that nobody measured this.",
    claims: (auc: string) => `Claimed: AUC ${auc}, where 0.5 is blind and 1 is certain.`,
    whose: (auditor: string, trusted: boolean) =>
      trusted
        ? `Signed by ${auditor}, key confirmed by you`
        : `Signed as “${auditor}”, key not confirmed`,
    stranger:
      "Before you rely on it, compare this key with what the auditor publishes elsewhere, not on this page.",
    confirm: "I compared the key, trust it",
    withdraw: "No longer trust this key",
    nobody: "Nobody certified this",
    nobodyMore: `What all ${items} reveal together was not measured by any auditor.`,
    figure: (auc: string, low: string, high: string) =>
      `Measured AUC ${auc}, interval ${low} to ${high}, on a scale from 0.5, blind, to 1, certain`,
  },

  foryou: {
    title: "For you",
    lead: "The service scored these from what you sent. Your browser ranked them with what it alone knows.",
    leadClear: "The service scored these from what you sent, which was not protected.",
    empty: `${sets ? "Mark" : "Rate"} a few ${items} and send your answer. Recommendations appear here.`,
    toRate: sets ? `Mark ${items}` : `Rate ${items}`,
    described: (value: string, deviation: string) =>
      `Predicted ${value}, give or take ${deviation}`,
    better: `${sets ? "Mark" : "Rate"} more ${items} and send again: the ${sets ? "list gets better" : "predictions get surer"}.`,
    /** On a row: she knows it already. */
    seen: `${capital(done)} it`,
    seenOf: (title: string) => `${capital(done)} it: ${title}`,
    next: "Goes with your next answer",
    more: "Show more",
    sure: (before: string, now: string) =>
      `Typical uncertainty of this list: ${before} before, ${now} now.`,
    basis: (answers: number) => `The service holds ${counted(answers, "answer")} of yours.`,
    again: sets ? `Mark the next ${items}` : `Rate the next ${items}`,
  },

  panel: {
    open: `The panel: share ${sets ? `what you have ${done}` : "your ratings"} to protect others`,
    given: sets ? `all ${items} that you have ${done}` : "all your ratings",
    closed: "This service takes nobody into its panel now.",
    nothing: `There is nothing to share yet: choose what to protect and ${sets ? `mark some ${items}` : `rate some ${items}`} first.`,
    all: (ratings: number) => `All that would be shared: ${ratings + 1} lines`,
    kept: (ratings: number) =>
      `All that the service keeps of you in its panel: ${ratings + 1} lines`,
    agree: (secret: string) =>
      `Yes, share my ${secret} and ${sets ? `the ${items} that I have ${done}` : "my ratings"}, as they are`,
    join: "Join the panel",
    joined: "You are in the panel.",
    since: (when: string) => `You joined the panel on ${when}.`,
    leave: "Leave the panel",
    left: "You left the panel: the service erased all that you shared.",
    failed: "That did not work; nothing changed here. Try again later.",
  },

  ledger: {
    title: "Your ledger",
    lead: "Everything this browser ever sent to this service or withheld from it. Decisions are final.",
    empty: "Nothing has been sent yet.",
    round: (number: number) => `Answer ${number}`,
    counts: (sent: number, withheld: number) => `${sent} sent, ${withheld} withheld`,
    waiting: "decided, waiting to be delivered",
    columns: { title: capital(item), yours: "You", sent: "Sent" },
    withheld: "withheld",
    bytes: "Exact bytes",
    export: "Export as a file",
    exportNote:
      "The file holds your true answers, and the signed list that the service showed, as proof. Keep it to yourself. The secret behind your coins is not in it.",
    mayGo:
      "This browser did not promise to keep this for good: it may clear it when space is short. If you then answer the same again, the service can compare.",
    exported: "Your ledger was saved as a file.",
    service: "The service's list",
    superseded:
      "Newer figures are out. Your answers go under these older ones until the witness has shown the newer ones long enough.",
    serviceNote: "Compare this with what someone else sees: it should be the same.",
    entry: (sequence: number, digest: string) => `Entry ${sequence + 1}, ${digest}`,
    forget: "Forget me",
    forgetNote:
      "Erases your answers at the service, then everything kept in this browser. Coming back later makes you a new person to the service.",
    forgetTitle: "Forget everything?",
    forgetBody:
      "First the service erases your answers, then this browser all that it keeps. This cannot be undone.",
    forgetAgain: `If you come back and ${sets ? "mark" : "rate"} the same ${items} as a new person, the service can compare the two answers, and the difference can reveal what you protect. Forget in order to leave, not in order to begin again.`,
    forgetYes: "Forget me",
    forgetNo: "Keep everything",
    forgetting: "Forgetting",
    forgotten: "The service and this browser have forgotten you.",
    forgetAway: "The service could not be reached, so nothing was erased yet. Try again.",
  },

  notices: {
    away: "The service cannot be reached. Nothing is lost; trying again by itself.",
    awayNow: "Try now",
    back: "The service is back.",
    insecure:
      "This page came over plain HTTP: anyone on the way can change it, and a changed page could read your secret. Open it over HTTPS.",
    otherTab:
      "This page is open in another tab. Close it there and use it here, so that nothing is decided twice.",
    otherTabUse: "Use it here",
    noStorage:
      "This browser gives the page no storage. All is forgotten when you close it, and what is forgotten may be decided again: use a window that may store.",
    storage:
      "This browser's storage did not answer, so the last step was not kept. Nothing else is lost. Load this page again; if that does not help, free some space or leave private browsing.",
    storageAgain: "Load again",
    noOpening:
      "This browser did not open its storage. That often passes: load this page again. Go on without storage only if you have never answered here: all is forgotten when you close the page, and answering twice can reveal what you protect.",
    noOpeningAgree: "Go on without storage",
    moved: "You moved to another device. Import a file from there to come back.",
    devices: "Another device, or a backup",
    demands: "Change what you demand",
    badStorage:
      "What this browser kept does not fit together any more: something changed it. Nothing is sent. You can have your answers erased at the service, as far as they can be found, and then here. If you answer the same again afterwards, the service can compare.",
    notErased:
      "The service did not confirm that it erased your answers, so all is kept here. Try again; or erase here only, and then you can never erase what the service holds.",
    notErasedHere: "Erase here only",
    newKey:
      "This service signs with a new key, for which the old one vouched: it is the same service. Nothing of yours changes.",
    failed: "Something went wrong in this page; nothing was sent by it.",
    sent: "Sent. Your recommendations are ready.",
    sentWaiting: "Decided and kept. It will be delivered when the service is back.",
    forgetting:
      "You asked to be forgotten, and the service has not confirmed it yet. Nothing else is done meanwhile; trying again by itself.",
    forgettingNow: "Try now",
    startOver: "Erase at the service, then here",
  },

  refused: {
    title: "This service was refused",
    calm: "Nothing was sent, and nothing of yours was lost.",
    titleTheirs: "The service said no",
    calmTheirs: "Nothing of yours was lost.",
    what: "What happened",
    code: (code: string) => `Code: ${code}`,
    next: "What you can do",
    nextUsual:
      "Wait and check again, or ask the people who run the service. Others may see the same.",
    nextElsewhere:
      "Go on there. If you have sent nothing there, you can remove it under Other services.",
    nextChanged:
      "If you know from elsewhere than this page that the change is meant, and agree with it, accept it. All that was decided stands, and from then on this browser holds the service to the new state. Do not accept a change that nobody announced. Do not choose Forget me because of it: if you come back and answer the same, the service can compare.",
    nextShown:
      "What people choose to rate often gives them away. If you agree to that, go on; this is asked once.",
    agree: "I agree: what I rate may be seen",
    accept: "Accept the change",
    again: "Check again",
    reasons: {
      key_changed:
        "The service signs with another key than this browser knows: a break-in, or a change that it should announce elsewhere.",
      chain_forked:
        "The service's list of figures does not continue the one this browser saw before. You may be shown something made for you alone.",
      chain_gap: "The service's list of published figures has a gap.",
      rolled_back: "The service shows older figures than the ones this browser accepted before.",
      wrong_digest: "What was received is not what the service's signed list names.",
      titles_unsigned: `The service's signed list does not say what its ${items} are, so it could show everyone others.`,
      wrong_titles: `The ${items} are not those of the service's signed list: you may be shown others than everyone else.`,
      bad_signature:
        "A signature does not hold: something was changed on the way or by the service.",
      features_changed:
        "The service changed what it protects. Your earlier choice does not fit any more.",
      scale_changed: "The service changed its rating scale.",
      scheme_changed:
        "The service changed how your answers are protected. The new way may hide less.",
      too_telling:
        "The service published a number so extreme that a single answer could give you away.",
      leak_too_large:
        "The service says that its figures can leak more than you accept, or does not say how much.",
      scheme_unsafe: "The service asks for answers in a way that would leave your secret readable.",
      scale_continuous:
        "The service says that its scale has no steps; whole stars on it would give you away.",
      offset_too_large: "The service published a number larger than its rating scale allows.",
      offset_not_centred: "The service published numbers that do not balance between the groups.",
      bad_distribution: "The service published shares that do not add up.",
      reveal_out_of_range: "The service published a probability that is none.",
      reveal_inconsistent: "The service published probabilities that contradict each other.",
      bad_positions: "The service published figures about what people rate that cannot be right.",
      average_out_of_range: "The service published an average that is off its own scale.",
      numbers_changed: `The service asks again, under other numbers, about ${items} that you answered. Answering twice could give you away.`,
      round_changed: "The service asks something else in a round that was answered.",
      unknown_item: `The service asks about ${items} that it published nothing about.`,
      bad_certificate: "A certificate does not hold.",
      not_certified: "No auditor that you trust certified the service's figures.",
      retired_disclosure:
        "Your last answer came too late for the service: it has newer figures. What was decided stands.",
      unknown_disclosure: "The service does not know the figures that your answer goes with.",
      round_unknown: "The service does not know the round that your answer belongs to.",
      rounds_used_up: "You have answered as often as the service takes answers from one person.",
      space_used_up:
        "You have sent as much as the service keeps of one person. What was decided stands.",
      report_changed: "The service holds another answer to this round.",
      witness_disagrees:
        "The witness was shown another list of figures. You may be shown something made for you alone.",
      witness_changed:
        "The witness signs with another key than this browser knows. Ask the people who run it; if the key is theirs, enter it among what you demand.",
      not_witnessed:
        "The witness has not shown the service's figures for as long as you demand, or is gone. Come back later.",
      question_open: `The service assigns ${items}, and yet leaves the choice to you.`,
      known_elsewhere:
        "You use this service at another address. Here you would be somebody new to it, and decide twice.",
      rated_shown: `The way in which this service protects answers does not hide which ${items} you rate.`,
    } as Record<string, string>,
    otherwise: "What the service sent does not follow the agreed form.",
    unnamedWitness: (witness: string) =>
      `the service does not name ${witness} any more, which is asked on your behalf`,
  },
});

/** All that the page says. */
export const page = { tag, sentences, featureName, categoryName, groupName, listed, percent };

/** What the extension says beyond that. */
export const extension = {
  tag,
  title: "Midpoint, from your own browser",
  lead: "This page was installed with your browser extension. No service sent it, and no service can change it.",
  allowTitle: (address: string) => `Use Midpoint at ${address}?`,
  allowLead:
    "Your browser asks you next whether the extension may talk to this address. It then reads what the service publishes, checks it here, and sends nothing before you press send.",
  allow: "Allow and open",
  notAllowed: "Not allowed, so nothing was asked or sent. You can allow it at any time.",
  otherPerson:
    "If you have answered on the service's own page, that page keeps another secret, and the service would see two people with the same answers. Choose Forget me there first.",
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
    `The extension may not talk to ${address} any more. The ledger of what you sent there is kept: without it the same would be decided again. To erase it, open the service and choose Forget me.`,
  service: "Service",
  others: "Other services",
};
