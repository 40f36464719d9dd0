"""Attackers of several rounds: on whole transcripts, and some on the union of all answers."""

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType

from midpoint.audit.attackers import ATTACKERS, Attacker, Learned
from midpoint.audit.attackers.catalogue import DENSE_LOGISTIC, LOGISTIC
from midpoint.audit.attackers.trees import Trees
from midpoint.audit.rounds.view import item_history, person_history

_of_transcripts = partial(Learned, adaptive=True, reads_transcripts=True)
_MAKERS: tuple[Callable[[], Attacker], ...] = (
    partial(_of_transcripts, "transcript-lr-items", form=item_history, family=LOGISTIC),
    partial(_of_transcripts, "transcript-lr", form=person_history, family=DENSE_LOGISTIC),
    partial(_of_transcripts, "transcript-trees", form=person_history, family=Trees()),
    partial(_of_transcripts, "transcript-trees-items", form=item_history, family=Trees((25, 60))),
)
ON_UNION = (
    "adaptive-lr-items",
    "adaptive-lr-mask",
    "adaptive-lr-profile",
    "adaptive-trees-profile",
    "adaptive-lr-panel",
)
"""Attackers of one report that are also tried on the union of all rounds."""
TRANSCRIPT_ATTACKERS: Mapping[str, Callable[[], Attacker]] = MappingProxyType(
    {make().name: make for make in _MAKERS} | {name: ATTACKERS[name] for name in ON_UNION}
)
"""Makers of attackers of several rounds, by name."""
