"""The chapters of docs/results/benchmarks.md, in order, by the name of their results."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple


class Chapter(NamedTuple):
    """One chapter of the page."""

    title: str
    """Its heading."""
    lead: str
    """What it shows, in a sentence or two."""
    program: str | None = None
    """The program that wrote its results, where it is not called like them."""


CHAPTERS: Mapping[str, Chapter] = MappingProxyType(
    {
        "factorization": Chapter(
            "Factorization beside the peers",
            "Time to build the data and to fit, and the error on a random tenth of MovieLens 1M."
            " *Quick* has the fewest passes that come below an RMSE of 0.853, *best* the least"
            " error; LensKit's quick row does not come below. A ratio of 2 is twice Midpoint's"
            " time.",
        ),
        "sets": Chapter(
            "Clicks, plays and purchases beside the peers",
            "Sets of films that people liked. NDCG@10 of lists for new people, and processor time.",
        ),
        "new_users": Chapter(
            "People who were not there at training",
            "The error for people who were not in the training data, and the time to estimate one"
            " profile: one call for each person, or one call for many.",
        ),
        "panel_and_reports": Chapter(
            "A small panel, and everyone else's reports",
            "The error for new people, if some people share their feature (the panel) and everyone"
            " else sends protected reports.",
        ),
        "privacy": Chapter(
            "Privacy beside what people would use instead",
            "What leaks, and what it costs, under Midpoint's schemes and under methods that people"
            " would use instead. The same attackers attack all of them.",
        ),
        "privacy_sets": Chapter(
            "Privacy of sets beside what people would use instead",
            "The same for sets: what leaks, and what lists lose, for our recommender and for"
            " implicit's, which is trained on the protected copy.",
            program="privacy",
        ),
        "paper_model": Chapter(
            "What the paper's model leaves open",
            "The paper does not say how its analyst handles means and penalties. Here are the"
            " results of several ways.",
        ),
        "audit": Chapter(
            "The audit in full",
            "An AUC of 0.5 is a blind guess, and 1 is certainty. A section's name says what was"
            " audited: the data set and the feature, and then perhaps `default` (the scheme that"
            " `midpoint train` chooses), `outsiders` (the attackers also know the category of"
            " users outside the panel), `rounds` (several rounds of questions), `liked` (sets of"
            " liked items), `views` (sets of all rated items), `section-7` and `paper` (the paper's"
            " experiment), or the schemes where not all were tried. Without `outsiders` the"
            " attackers know the category of the panel's members only.",
        ),
        "scaling": Chapter(
            "Growing data on one machine",
            "Time and memory of training as the number of ratings grows.",
        ),
        "engines": Chapter(
            "One machine and a cluster",
            "Time, memory and error of the three engines as the number of ratings grows.",
        ),
        "engine_counterparts": Chapter(
            "Counterparts on disk and on a cluster",
            "Time and memory of training with counterparts and without.",
        ),
        "counterparts": Chapter(
            "Training with counterparts",
            "Time of `midpoint train` with counterparts, and of its parts.",
        ),
        "selection": Chapter(
            "Choosing what to ask",
            "Time to choose the items that a person is asked about.",
        ),
        "obfuscation": Chapter(
            "Making ratings private",
            "Time to protect ratings.",
        ),
        "single_call": Chapter(
            "What one call costs",
            "Processor time of single calls.",
        ),
        "service": Chapter(
            "The service under load",
            "Requests a second and their latency, beside endpoints that do nothing. Cornac's"
            " serving app looks up factors of people whom it knows; Midpoint estimates a profile"
            " from kept reports.",
        ),
        "service_reads": Chapter(
            "What devices read, beside an earlier version",
            "The requests that devices make most, beside an earlier version of Midpoint and"
            " Cornac's serving app.",
        ),
        "service_faults": Chapter(
            "The service, killed and abused",
            "The service and its database are killed while reports come in; no report that was"
            " acknowledged may be lost.",
        ),
        "service_soak": Chapter(
            "The service over a long time, with kills and hostile requests",
            "Honest and hostile clients over a long time, while processes are killed.",
        ),
        "service_hostile": Chapter(
            "The service with one hostile token among 10,000",
            "How much one hostile client slows the others down.",
        ),
        "page": Chapter(
            "The page",
            "The page in a browser, on a simulated phone.",
        ),
        "sizes": Chapter(
            "What is sent",
            "Sizes of messages and files.",
        ),
    }
)
