/** Every English sentence of the page. */

const FEATURES: Record<string, string> = { gender: "gender", age: "age", party: "party" };
const CATEGORIES: Record<string, string> = {
  "gender/F": "Female",
  "gender/M": "Male",
  "sex/F": "Female",
  "sex/M": "Male",
};

/** What a feature is called in a sentence. */
export function featureName(feature: string): string {
  return FEATURES[feature] ?? feature;
}

/** What a category is called; a name that the page does not know is shown as it is. */
export function categoryName(feature: string, category: string): string {
  return CATEGORIES[`${feature}/${category}`] ?? category;
}

/** Made once: it is used for every star. */
const grouped = new Intl.NumberFormat("en");

/** "a", "a and b", "a, b and c". */
export function listed(names: readonly string[]): string {
  if (names.length < 2) return names.join("");
  return `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}

function counted(number: number, one: string, many = `${one}s`): string {
  return `${grouped.format(number)} ${number === 1 ? one : many}`;
}

export const texts = {
  name: "Midpoint",
  skip: "Skip to the content",
  opening: "Reading and checking what the service publishes",

  welcome: {
    title: "Recommendations, with your secret kept here",
    lead: (secret: string, hidesRated: boolean) =>
      hidesRated
        ? `Rate a few titles and get recommendations. Before anything is sent, your own browser turns your ratings into answers made so that, title by title, neither an answer nor its absence says anything about your ${secret}. Your ${secret} never leaves this browser, nor do the ratings it withholds, and you see every answer before it goes.`
        : `Rate a few titles and get recommendations. Before anything is sent, your own browser turns your ratings into answers made so that, title by title, their values say nothing about your ${secret}. Your ${secret} never leaves this browser, and you see every answer before it goes; but which titles you rated is not hidden here, and that can reveal something about your ${secret}.`,
    choose: "What to protect",
    stays:
      "Kept in this browser only, and never sent. It is used here to alter your answers and to rank your recommendations. A wrong choice would protect you less.",
    legend: (feature: string) => `Your ${feature}`,
    several: "This service protects these together, so it needs an answer to each.",
    start: "Start rating",
    keep: "Save",
    cancel: "Cancel",
    missing: (feature: string) => `Choose your ${feature} first. It stays in this browser.`,
    change: "Change what is protected",
    changeNote:
      "Answers already sent or withheld stand as they are: deciding them again would reveal what changed.",
    notMeasured: "What titles reveal when they are read together was not measured by any auditor.",
    measured: (auditor: string, auc: string, against: string) =>
      `Titles read together can reveal more. ${auditor}, whom you trust, measured an AUC of ${auc}: 0.5 is blind guessing, 1 is certainty. ${against}`,
    claimed: (auditor: string, auc: string, against: string) =>
      `Titles read together can reveal more. Somebody who signs as “${auditor}” claims an AUC of ${auc}: 0.5 is blind guessing, 1 is certainty. ${against} You have not confirmed the key.`,
    none: "I am in none of these, or do not want to say",
    noneWhy: (secret: string) =>
      `Protection needs your ${secret}: this browser hides it by answering as somebody in the middle would. A choice made at random would look like protection and be none.`,
    noneEveryone: "You can see the best titles for everyone. Nothing is sent for that.",
    showEveryone: "Show the best for everyone",
    noneClear: (secret: string) =>
      `Or your ratings go in the clear, and nothing is protected: anybody who sees them may guess your ${secret} as well as from anybody's raw ratings. This page does not send them so; the terminal program does if you agree.`,
    everyone: "Best for everyone",
    everyoneLead:
      "Made in this browser from what the service publishes. You said nothing, and nothing was sent.",
    everyoneBack: "Back to the choice",
    nothingStored: "No account, no name, no cookie.",
    protected: (secret: string, features: number) =>
      features === 1 ? `${secret} protected` : secret,
  },

  nav: {
    label: "Parts of the page",
    rate: "Rate",
    leaves: "What leaves",
    foryou: "For you",
    ledger: "Ledger",
  },

  rate: {
    title: "Rate what you have seen",
    lead: "The service asks about these first. Leave out what you do not know; five are enough to begin.",
    search: "Search all titles",
    checking:
      "What protects you is still on its way and will be checked. You can rate; nothing is sent before.",
    placeholder: (titles: number) => `Search ${grouped.format(titles)} titles`,
    clearSearch: "Clear the search",
    filters: "Which titles to show",
    asked: "Asked now",
    all: "All titles",
    yours: "Rated",
    found: (titles: number) => `${counted(titles, "title")} found`,
    none: "No title matches. Try fewer letters.",
    nothingRated: "Nothing rated yet.",
    nothingAsked: "The service asks about nothing more. You can still rate any other title.",
    keys: "Keys: 1 to 5 rate, arrows move, 0 clears, u undoes, / searches",
    group: (title: string) => `Your rating of ${title}`,
    star: (value: string) => (value === "1" ? "1 star" : `${value} stars`),
    notRated: "Not rated",
    yes: "Yes",
    no: "No",
    leavesAs: (value: string) => `leaves as ${value}`,
    staysHere: "stays here",
    sentAs: (value: string) => `Sent as ${value}`,
    withheld: "Stays here for good",
    final: "Final: it was decided in an earlier answer",
    review: "See what leaves",
    rated: (sent: number, withheld: number) => `${sent} would go, ${withheld} stay`,
    saidRated: (title: string, value: string, fate: string) => `${title}: ${value}, ${fate}`,
    saidCleared: (title: string) => `${title}: rating cleared`,
    undo: "Undo",
    undone: (title: string) => `Undone: ${title}`,
    nothingToUndo: "Nothing to undo",
  },

  leaves: {
    title: "What leaves this device",
    lead: "Nothing goes before you press send.",
    empty: "Rate a title and see here what would be sent, and what stays.",
    yours: "You",
    sent: "Sent",
    stays: "Stays here",
    summary: (sent: number, withheld: number) =>
      `${counted(sent, "answer")} would go, ${counted(withheld, "rating")} would stay here.`,
    send: "Send this answer",
    sendNone: "I know none of these, ask others",
    sending: "Sending",
    final:
      "Once sent, these decisions are final, the withheld ones too. Rate as you feel: ratings bent to steer the result would undo the protection.",
    more: (number: number) => `Show ${number} more`,
    fewer: "Show fewer",
    bytes: "Show the exact bytes",
    bytesLead: (bytes: number) =>
      `The whole body of the one request that is sent, ${grouped.format(bytes)} bytes. With it goes a random token made by this browser, which is the only name the service has for you.`,
    pending: "Being worked out after your last change.",
    why: {
      withheld: (share: string) =>
        `Your group rates this more often than others. So ${share} of its ratings stay here, and having rated it says nothing about your group.`,
      withheldLikeOthers: (share: string) =>
        `People like you in your group rate this more often than people like you in other groups. So ${share} of such ratings stay here, and having rated it says nothing about your group.`,
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
      average: "An average is sent instead of your rating.",
      notAsked: "Not asked about in this round, so it stays here.",
    },
  },

  gauges: {
    title: "What could be guessed",
    lead: (secret: string) =>
      `Your ${secret}, read from each title on its own. Worked out in this browser from the service's public figures.`,
    raw: "From raw ratings",
    sent: "From what you send",
    sure: (category: string) => `for “${category}”`,
    even: "an even guess",
    chance: (share: string) => `${share} even`,
    certain: "certain",
    caution: (values: boolean, hidesRated: boolean) =>
      [
        `Both take the service's figures as true${values ? "." : ", which say nothing about how groups rate."}`,
        hidesRated ? "" : "Which titles you rate is not hidden, and is not counted here.",
        "Titles read together can reveal more:",
      ]
        .filter(Boolean)
        .join(" "),
    measured: "Measured by an auditor, all titles together",
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
          return `Measured against somebody who knows it of ${people} people, and not how answers are protected. Somebody who knows more may find more.`;
        case "outsider":
          return `Measured against somebody who knows it of ${outsiders.toLocaleString("en")} other users of this service, whose answers are protected like yours.`;
        default:
          return `Measured against somebody who knows it of ${people} people, and how answers are protected. Somebody who knows it of other users of this service may find more.`;
      }
    },
    named: (percent: string) => `Of all people, ${percent} % can be named with 90 % confidence.`,
    interval: (low: string, high: string, nullLow: string, nullHigh: string) =>
      `Interval ${low} to ${high}. With shuffled labels the strongest of all attacks gets ${nullLow} to ${nullHigh}.`,
    drawn: "The interval is the thick line, the box what shuffled labels give.",
    attack: (attack: string) => `Strongest attack: ${attack}.`,
    claimed: "Claimed by somebody you have not confirmed",
    claimedMore:
      "Anyone can make a key and sign anything with it, this service too. Until you confirm the key below, take it that nobody measured what titles reveal together.",
    claims: (auc: string) => `Claimed: AUC ${auc}, where 0.5 is blind and 1 is certain.`,
    whose: (auditor: string, trusted: boolean) =>
      trusted
        ? `Signed by ${auditor}, key confirmed by you`
        : `Signed as “${auditor}”, key not confirmed`,
    stranger:
      "Compare this key with what the auditor publishes elsewhere, not on this page, before you rely on the figure.",
    confirm: "I compared the key, trust it",
    withdraw: "No longer trust this key",
    nobody: "Nobody certified this",
    nobodyMore: "What titles reveal when they are read together was not measured by any auditor.",
    figure: (auc: string, low: string, high: string) =>
      `Measured AUC ${auc}, interval ${low} to ${high}, on a scale from 0.5, blind, to 1, certain`,
  },

  foryou: {
    title: "For you",
    lead: "Scored by the service from what you sent; ranked here with what stayed here.",
    empty: "Rate a few titles and send your answer. Recommendations appear here.",
    toRate: "Rate titles",
    described: (value: string, deviation: string) =>
      `Predicted ${value}, give or take ${deviation}`,
    better: "Rate more titles and send again: the predictions get surer.",
    more: "Show more",
    sure: (before: string, now: string) =>
      `Typical uncertainty of this list: ${before} before, ${now} now.`,
    basis: (answers: number) => `From ${counted(answers, "answer")} that the service holds.`,
    again: "Rate the next titles",
  },

  ledger: {
    panel: "The panel: share your ratings to protect others",
    title: "Your ledger",
    lead: "Everything this browser ever sent to this service or withheld from it. Decisions are final.",
    empty: "Nothing has been sent yet.",
    round: (number: number) => `Answer ${number}`,
    counts: (sent: number, withheld: number) => `${sent} sent, ${withheld} withheld`,
    waiting: "decided, waiting to be delivered",
    columns: { title: "Title", yours: "You", sent: "Sent" },
    withheld: "withheld",
    bytes: "Exact bytes",
    export: "Export as a file",
    exportNote:
      "The file holds your true decisions, and the signed list that the service showed, as proof. Keep it to yourself. It does not hold the secret behind your coins.",
    mayGo:
      "This browser did not promise to keep this for good: it may clear it when space is short or after a long absence. Somebody who then rates the same titles again could be compared with who she was.",
    exported: "Your ledger was saved as a file.",
    service: "The service's list",
    superseded:
      "Newer figures are out. Your answers go under these until the witness has shown the newer ones for long enough.",
    serviceNote:
      "Compare this with what someone else sees: if it differs, the service shows you something of its own.",
    entry: (sequence: number, digest: string) => `Entry ${sequence + 1}, ${digest}`,
    forget: "Forget me",
    forgetNote:
      "Erases your answers at the service, then everything kept in this browser. Coming back later makes you a new person to the service.",
    forgetTitle: "Forget everything?",
    forgetBody:
      "First the service erases your answers, then this browser erases your ledger, your ratings and your choice. This cannot be undone.",
    forgetAgain:
      "If you come back and rate the same titles as a new person, the service can compare the two answers, and the difference can reveal what you protect. Forget in order to leave, not in order to begin again.",
    forgetYes: "Forget me",
    forgetNo: "Keep everything",
    forgetting: "Forgetting",
    forgotten: "The service and this browser have forgotten you.",
    forgetAway:
      "The service could not be reached, so nothing was erased yet. What is needed to try again is kept.",
  },

  demands: {
    title: "What you demand of this service",
    change: "Change what you demand",
    keep: "Save and check again",
    cancel: "Cancel",
    witnessed: (witness: string, hours: number) =>
      `Answers go only under figures that the witness ${witness} has shown for ${counted(hours, "hour")}.`,
    notWitnessed: "No witness is asked: figures made for you alone would go unnoticed.",
    certified: (most: number) =>
      `A certificate is required, by an auditor you trust and of at most AUC ${most}.`,
    notCertified: "No certificate is required.",
    bounded: (most: number) => `The service's leak budget may be AUC ${most} at most.`,
    witness: "Witness",
    none: "None",
    witnessNote:
      "Somebody independent who watches what this service publishes. It learns nothing about you.",
    noneNamed:
      "This service names no witness, and this page can ask no other. The terminal program can.",
    anyWitness:
      "Somebody independent who watches what this service publishes. Best is one whose address you have from elsewhere. It learns nothing about you. Leave this empty to ask none.",
    witnessKey: "Key of the witness",
    witnessKeyNote:
      "Copy it from where the witness publishes it, not from this page. Leave this empty to hold on to the first key that it shows.",
    badWitness: "Give the witness's address as https://host, or leave it empty.",
    hours: "Hours for which it has to show figures first",
    hoursNote: "Until then your answers go under the figures before.",
    require: "Require a certificate by an auditor I trust",
    most: "Highest AUC to accept",
    mostNote:
      "How often the strongest attack found may pick the right one of two people. 0.5 is blind guessing, 1 is certainty.",
    auditors: "Keys of auditors I trust",
    auditorsNote:
      "Copy a key from where the auditor publishes it, not from this page. One key per line, 64 characters each.",
    leak: "Highest leak budget to accept",
    leakNote:
      "AUC that somebody could reach who knew all errors of the service's figures, as the service says. Leave this empty to accept any.",
    badLeak: "Give the highest leak budget as a number from 0.5 to 1, or leave it empty.",
    badHours: "Give the hours as a number from 0 to 8760.",
    badMost: "Give the highest AUC as a number from 0.5 to 1.",
    badKey: "A key has 64 characters from 0 to 9 and a to f.",
    noAuditor: "Give the key of an auditor you trust, or require no certificate.",
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
      "This browser gives the page no storage. Everything works, but is forgotten when you close it, and a decision forgotten may be made again: use a window that may store.",
    storage:
      "This browser's storage did not answer, so the last step was not kept. Nothing you kept before is lost. Load this page again; if that does not help, free some space or leave private browsing.",
    storageAgain: "Load again",
    noOpening:
      "This browser did not open its storage. That often passes: load this page again. Only if you have never answered here before, you can go on without storage: then everything is forgotten when you close the page, and titles that you answer twice can reveal what you protect.",
    noOpeningAgree: "Go on without storage",
    badStorage:
      "What this browser kept does not fit together any more: it was changed from outside, or by another program. Nothing is sent. You can have your answers at the service erased, as far as they can still be found, and then what is kept here. Rating the same titles again afterwards lets the service compare.",
    notErased:
      "The service did not confirm that it erased your answers, so all is kept here as it was. Try again; or erase here only, and then what the service holds can never be erased by you.",
    notErasedHere: "Erase here only",
    newKey:
      "This service signs with a new key. The key that this browser knew vouched for it in the signed list, so it is the same service. Nothing of yours changes.",
    failed: "Something went wrong in this page; nothing was sent by it.",
    sent: "Sent. Your recommendations are ready.",
    sentWaiting: "Decided and kept. It will be delivered when the service is back.",
    forgetting:
      "You asked to be forgotten, and the service has not confirmed it yet. Nothing else is done until it has; trying again by itself.",
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
    nextChanged:
      "If you learned in another way than from this page that the change is meant and you agree with it, accept it. You stay who you are: your ledger and everything decided stand, and you are asked again only about what changed. From then on this browser holds the service to the new state, so accepting a change that nobody announced gives up this protection. Do not forget yourself over it: rating the same titles as somebody new would let the service compare.",
    nextShown:
      "Where people choose what they rate, what they chose often gives them away. If you agree to that, go on; this is asked once.",
    agree: "I agree: what I rate may be seen",
    accept: "Accept the change",
    again: "Check again",
    reasons: {
      key_changed:
        "The service signs with another key than the one this browser knows. That can be a break-in, or a change that it should announce elsewhere.",
      chain_forked:
        "The service's list of published figures is not the continuation of the one this browser saw before. You may be shown something made for you alone.",
      chain_gap: "The service's list of published figures has a gap.",
      rolled_back: "The service shows older figures than the ones this browser accepted before.",
      wrong_digest: "What was received is not what the service's signed list names.",
      titles_unsigned:
        "The service's signed list does not say what its titles are, so it could show everyone others.",
      wrong_titles:
        "The titles are not those of the service's signed list: you may be shown others than everyone else.",
      bad_signature:
        "A signature does not hold: something was changed on the way or by the service.",
      features_changed:
        "The service changed what it protects. Your earlier choice does not fit any more.",
      scale_changed: "The service changed its rating scale.",
      scheme_changed:
        "The service changed the way in which your answers are protected. The new one may hide less.",
      too_telling:
        "A number the service published is so extreme that a single answer could give you away.",
      leak_too_large:
        "The service says that its figures can leak more than you accept, or does not say how much.",
      scheme_unsafe: "The service asks for answers in a way that would leave your secret readable.",
      scale_continuous:
        "The service says that its scale has no steps; whole stars on it would give you away.",
      offset_too_large: "A number the service published is larger than its rating scale allows.",
      offset_not_centred: "Numbers the service published do not balance between the groups.",
      bad_distribution: "The service published shares that do not add up.",
      reveal_out_of_range: "The service published a probability that is none.",
      reveal_inconsistent: "The service published probabilities that contradict each other.",
      bad_positions:
        "The service published figures about what people rate, and how, that cannot be right.",
      average_out_of_range: "The service published an average that is off its own scale.",
      numbers_changed:
        "The service asks again, under other numbers, about a title that you answered. Answering twice could give you away.",
      round_changed: "The service asks something else in a round that was answered.",
      unknown_item: "The service asks about a title that it published nothing about.",
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
        "The witness signs with another key than the one this browser knows. Ask the people who run it, and if the key is theirs, enter it among what you demand.",
      not_witnessed:
        "The witness has not shown the service's figures for as long as you demand, or is not there any more. Without it, figures made for you alone would go unnoticed. Come back later.",
      question_open: "The service assigns titles, and yet leaves the choice to you.",
      rated_shown:
        "The way in which this service protects answers does not hide which titles you rate.",
    } as Record<string, string>,
    otherwise: "What the service sent does not follow the agreed form.",
  },
} as const;
