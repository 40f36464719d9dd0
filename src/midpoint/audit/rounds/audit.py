"""Audit several rounds: attack whole transcripts, beside devices that do not keep decisions."""

import json
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import as_completed
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from midpoint.analyst import Factorizer, choose_scheme
from midpoint.audit.attackers import Attacker, new_attacker, score_people
from midpoint.audit.rounds.collecting import SEEN, collect_transcripts
from midpoint.audit.rounds.conversation import Device
from midpoint.audit.rounds.folds import Case, RoundsFold, Setup
from midpoint.audit.rounds.results import TranscriptResults
from midpoint.audit.rounds.view import TRANSCRIPT_ATTACKERS
from midpoint.audit.run.folds import audited, one_against_rest
from midpoint.audit.run.plan import RAW, Plan, read_scheme
from midpoint.audit.run.processes import Progress, worked_on, workers
from midpoint.audit.run.store import ATTACK, Store, code_digest, described_kind, read_made
from midpoint.data import Ratings
from midpoint.errors import MidpointError
from midpoint.files import replace_file

PLACE = "transcripts"
"""Where in an audit's directory the rounds are kept."""
MANIFEST = "rounds.json"
SEEDS = 2**31 - 1
"""Attackers get seeds below this, which all libraries take."""

Attacks = Mapping[str, Callable[[], Attacker]]
Tell = Callable[[Progress], None]


def audit_transcripts(  # noqa: PLR0913
    ratings: Ratings,
    feature: str | Iterable[str],
    *,
    rounds: int = 4,
    budget: int = 30,
    items: int = 300,
    scheme: str | None = None,
    attacks: Attacks = TRANSCRIPT_ATTACKERS,
    folds: int = 3,
    seed: int = 0,
    jobs: int = 1,
    out: Path | str | None = None,
    factorizer: Factorizer | None = None,
    progress: Tell | None = None,
) -> TranscriptResults:
    """Attack what devices say over several rounds, and what they would if decisions were not final.

    Args:
        ratings: The data; where it has times, ratings arrive in their order.
        feature: The private feature, or several to be crossed.
        rounds: How often everyone is asked; half way the analyst learns anew.
        budget: New items in each round, chosen by what was answered.
        items: Items that may be asked about: those that most people can rate.
        scheme: A scheme with its settings; the one in use unless given.
        attacks: What makes each attacker, by name.
        folds: Folds of people.
        seed: Decides every random draw.
        jobs: Processes; the numbers do not depend on it.
        out: Directory for what was found so far; a killed run resumes from it.
        factorizer: How item profiles are learned.
        progress: Called after each fold of a kind of device.
    """
    if rounds < 2 or budget < 1 or jobs < 1:
        raise MidpointError("transcripts take 2 rounds, 1 item each and 1 process at least")
    names = (feature,) if isinstance(feature, str) else tuple(feature)
    plan = Plan(names, folds=folds, seed=seed, factorizer=factorizer or Factorizer())
    people, _ = audited(ratings, plan)
    cases = name_cases(scheme or choose_scheme(people, *names), rounds)
    setup = Setup(people, plan, cases, rounds, budget, min(items, people.n_items))
    with tempfile.TemporaryDirectory(prefix="midpoint-rounds-") as scratch:
        store = Store(Path(out or scratch) / PLACE)
        _open(setup, store, ratings.digest, attacks)
        _run_all(Runner(setup, dict(attacks), store), jobs, progress or _quiet)
        return collect_transcripts(setup, store, ratings)


def name_cases(scheme: str, rounds: int) -> dict[str, Case]:
    """Name the devices: raw ratings, the product's, and those that do not keep decisions."""
    how = read_scheme(scheme)
    if how.alpha < 1 or how.name in {"nothing", "full"}:
        raise MidpointError(f"rounds of {scheme!r} cannot be held; name a scheme, without alpha")
    raw, product = f"{RAW}:rounds={rounds}", f"{scheme}:rounds={rounds}"
    naive = {f"{product}:{one}": Case(how, one) for one in (Device.FORGETFUL, Device.TOSSING)}
    kept = Device.FINAL
    return {raw: Case(read_scheme(RAW), kept), product: Case(how, kept), **naive}


@dataclass(frozen=True, eq=False)
class Runner:
    """Does the work, a fold and a kind of device at a time."""

    setup: Setup
    """What is run, and on whom."""
    attackers: Attacks
    """What makes each attacker."""
    store: Store
    """Where scores are kept."""
    _last: list[RoundsFold] = field(default_factory=list)
    """The fold that was last worked on."""

    def missing(self, number: int, name: str) -> list[str]:
        """Return what is not there yet of a fold with one kind of device."""
        has = self.store.has
        missing = [one for one in self.attackers if not has(number, name, ATTACK, one)]
        return missing if has(number, name, SEEN) else [*missing, SEEN]

    def run(self, number: int, name: str) -> None:
        """Hold all rounds of a fold with one kind of device, and attack what was said."""
        missing = [one for one in self.missing(number, name) if one != SEEN]
        # Sums in another order are other sums: one thread, however many processes there are.
        with threadpool_limits(1):
            fold = self._fold(number)
            tried, learned = fold.tried(name), fold.learned(name)
            for attack in missing:
                seed = self.setup.plan.seed_of("rounds", number, name, attack) % SEEDS
                scores = []
                for k, labels in self._questions(fold.training_category):
                    attacker = new_attacker(self.attackers[attack], k)
                    attacker.fit(learned, labels, seed=seed)
                    scores.append(score_people(attacker, attack, tried))
                self.store.save({"scores": np.stack(scores, axis=1)}, number, name, ATTACK, attack)
        answers = tried.transcript.answered.sum(axis=2).mean(axis=1)
        self.store.save({"category": fold.held_out.category}, number, SEEN)
        self.store.save({"answers": answers}, number, name, SEEN)

    def _questions(self, category: NDArray[np.intp]) -> Iterable[tuple[int, NDArray[np.int64]]]:
        feature = self.setup.ratings.feature(*self.setup.plan.feature)
        return one_against_rest(category, len(feature.categories))

    def _fold(self, number: int) -> RoundsFold:
        if not self._last or self._last[0].number != number:
            self._last[:] = [RoundsFold.of(self.setup, number)]
        return self._last[0]


def _open(setup: Setup, store: Store, digest: str, attacks: Attacks) -> None:
    """Go on in a directory that was made in exactly this way, or start one.

    Attackers may be added; one of a name that was there must be the same.
    """
    scheme = {name: asdict(case.how) for name, case in setup.cases.items()}
    made = {
        "code": code_digest(),
        "data": digest,
        "plan": asdict(setup.plan),
        "rounds": [setup.rounds, setup.budget, setup.items],
        "devices": scheme,
    }
    path, wanted = store.root / MANIFEST, json.loads(json.dumps(made))
    found = read_made(path) if path.exists() else wanted
    known = found.pop("attackers", {})
    kinds = {name: described_kind(make) for name, make in attacks.items()}
    if found != wanted or known | kinds != kinds | known:
        raise MidpointError(
            f"{store.root} was made with other code, data or options; its numbers would not go"
            " together with new ones: remove it, or name a new directory"
        )
    text = json.dumps(wanted | {"attackers": known | kinds}, indent=1) + "\n"
    replace_file(path, text.encode())


def _run_all(runner: Runner, jobs: int, tell: Tell) -> None:
    setup = runner.setup
    units = [(fold, name) for fold in range(setup.plan.folds) for name in setup.cases]
    missing = [unit for unit in units if runner.missing(*unit)]
    there, started = len(units) - len(missing), time.perf_counter()
    tell(Progress(there, len(units), None if missing else 0.0))
    for done, _ in enumerate(_run_each(runner, missing, jobs), start=1):
        left = (time.perf_counter() - started) / done * (len(missing) - done)
        tell(Progress(there + done, len(units), left))


def _run_each(runner: Runner, units: list[tuple[int, str]], jobs: int) -> Iterator[None]:
    """Do all, in this process or in several others, pausing after each."""
    if jobs == 1:
        for unit in units:
            runner.run(*unit)
            yield
    elif units:
        with workers(jobs, runner) as pool:
            futures = [pool.submit(_work, *unit) for unit in units]
            for future in as_completed(futures):
                future.result()
                yield


def _work(fold: int, name: str) -> None:
    runner: Runner = worked_on()
    runner.run(fold, name)


def _quiet(_progress: Progress) -> None:
    """Say nothing."""
