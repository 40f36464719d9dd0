"""How an audit's numbers were made, in words; and short names of schemes with settings."""

from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any

from midpoint.analyst.fit.sets.tuning import WIDER
from midpoint.audit.attackers import ATTACKERS
from midpoint.audit.attackers.joint import MATCHED
from midpoint.audit.measure.results import AuditResults
from midpoint.audit.run.plan import GIVEN
from midpoint.data.split import day

FULL_FOLDS = 10
"""Folds of a full audit: those of `midpoint audit` unless given."""
METHODS = {
    "als": "alternating least squares",
    "sgd": "stochastic gradient descent",
    "factors": "stochastic gradient descent",
}
MEANS = {"factors": "no means of items or users (Eq. 1)"}
WITH_MEANS = "with a mean for each item and each user"
BIASES = {
    "shrunken": "shrunken by empirical Bayes",
    "plain": "plain half differences of class means",
    "joint": "fitted jointly with the profiles",
}
ESTIMATIONS = {"shrunken": "shrunken estimates", "plain": "plain estimates"}
ESTIMATORS = {"map": "MAP", "least-squares": "least squares"}


def model_words(results: AuditResults) -> str:
    """Say by which method, estimates and estimator, in which dimension and folds."""
    plan = results.model
    fit = plan.get("factorizer")
    if not fit:
        return f"{results.folds} folds of users; how profiles were fitted is not recorded."
    learned = fit["regularization"]
    penalty = "learned regularization" if learned == "learned" else f"regularization {learned:g}"
    tuned = ", chosen by ten-fold cross-validation" if results.is_paper else ""
    fitted = (
        _of_sets(fit)
        if results.unary
        else (
            f"Item profiles: {METHODS[fit['method']]}, {fit['dimension']} latent dimensions,"
            f" {MEANS.get(fit['method'], WITH_MEANS)}, {fit['iterations']} passes,"
            f" {penalty}{tuned}; biases {BIASES[fit['biases']]}"
        )
    )
    given = given_words(plan["share"], plan.get("until"), unary=results.unary)
    folds = f"{plan['folds']} folds of users; {given}"
    who = [f"Who volunteers for the panel: {plan['volunteers']}"] if plan.get("volunteers") else []
    return ". ".join([fitted, folds, *who, *_estimates(results)]) + "."


def _of_sets(fit: Mapping[str, Any]) -> str:
    """Say how sets are factorized."""
    asked = fit["dimension"]
    return (
        f"Item profiles: alternating least squares with confidence weights, {asked} to"
        f" {WIDER[-1] * asked} latent dimensions, {fit['iterations']} passes; dimension, weight and"
        " regularization are those of the best NDCG@10 of people of the panel who were held out"
    )


def front_words(results: AuditResults, written: date | None = None) -> str:
    """Say on what the first sentence rests: when, whom, how many folds and attackers, how fully."""
    tried = len(results.controls)
    known = [name for name in ATTACKERS if name in results.controls]
    if results.is_paper:
        kind = "the paper's experiment, with its attackers alone: none of them knows the scheme"
    elif results.model.get("quick"):
        kind = "quick audit, for a first look"
    elif len(known) == len(ATTACKERS) and results.folds >= FULL_FOLDS:
        kind = "full audit"
    else:
        kind = (
            f"partial audit: a full one has {FULL_FOLDS} folds and all {len(ATTACKERS)} attackers"
        )
    parts = [
        *([] if written is None else [f"{written.day} {written:%B %Y}"]),
        f"{int(results.description['users']):,} people",
        f"{results.folds} folds",
        f"{tried} attacker" + ("" if tried == 1 else "s"),
        kind,
    ]
    return " · ".join(parts)


def given_words(share: float, until: int | None = None, *, unary: bool = False) -> str:
    """Say how much of their ratings people give, and what is predicted from what."""
    if unary and until is not None:
        return (
            f"what was used before {day(until)}, {share:.0%} of all, is trained on and given; what"
            " held-out users used later is looked for"
        )
    if unary and share < 1:
        return f"{share:.0%} of a held-out user's set are given, the others looked for"
    if until is not None:
        return (
            f"ratings from before {day(until)}, {share:.0%} of all, are trained on and given;"
            " later ones of held-out users are predicted"
        )
    if share == 1:
        return (
            "all of a held-out user's ratings are given and attacked; errors of predictions are"
            f" measured with {GIVEN:.0%} of them given, as nothing else would be left to predict"
        )
    return f"{share:.0%} of a held-out user's ratings are given, the others predicted"


def _estimates(results: AuditResults) -> Iterator[str]:
    """Say how people and categories are estimated."""
    if results.is_paper:
        yield (
            "Least squares throughout (attack, inference and baseline): of minimum norm where"
            " ratings are fewer than dimensions (lse, rmse_inferred), with the penalty of the fit"
            f" (lse-penalized, rmse_penalized), and with a penalty of {MATCHED:g} for each rating"
            " (lse-matched, rmse_matched), which we fitted to the paper's error of raw ratings on"
            " MovieLens 1M by gender: agreement there is no finding"
        )
    elif not results.unary:
        yield (
            "lse, and the error with the inferred category (rmse_inferred): jointly with the"
            " category, by MAP under the training users' mean and covariance"
        )
    kinds: dict[str, list[str]] = {}
    for name in results.scheme_names():
        settings = results.schemes[name]
        if settings["alpha"] == 1 and settings["name"] != "nothing":
            kinds.setdefault(_estimated(settings), []).append(name.partition(":")[0])
    for words, names in kinds.items():
        yield f"{words}: {', '.join(dict.fromkeys(names))}"


def _estimated(settings: Mapping[str, Any]) -> str:
    disclosed = ESTIMATIONS[settings["estimation"]].capitalize()
    return f"{disclosed} disclosed, profiles by {ESTIMATORS[settings['estimator']]}"


def label(scheme: str) -> str:
    """Write a scheme's settings in words, such as `mpss, plain, least squares`."""
    name, *settings = scheme.split(":")
    words = [setting.removeprefix("estimation=").removeprefix("estimator=") for setting in settings]
    short = [{"least-squares": "least squares", "map": "MAP"}.get(word, word) for word in words]
    return ", ".join([name, *short])


def tick(scheme: str) -> str:
    """Write the same for an axis, a part on each line."""
    return label(scheme).replace(", ", ",\n")
