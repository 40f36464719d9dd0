"""Factorization from memory-mapped arrays: the same solver, on columns that stay on disk."""

import hashlib
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from midpoint.analyst.categories.estimates import Estimation, mean_effects
from midpoint.analyst.categories.statistics import CategoryStatistics
from midpoint.analyst.counterparts.panel import ByUser
from midpoint.analyst.engines.engine import Then
from midpoint.analyst.engines.streaming.beside import Beside, counts
from midpoint.analyst.engines.streaming.sample import sampled
from midpoint.analyst.engines.streaming.scan import Scan
from midpoint.analyst.engines.streaming.sort import Triples, mapped, sort_on_disk
from midpoint.analyst.engines.streaming.statistics import tally_scan
from midpoint.analyst.engines.tables import require_supported
from midpoint.analyst.engines.unfinished import Unfinished
from midpoint.analyst.fit.als import Factors, Observations, alternate
from midpoint.analyst.fit.assembly import Catalogue, Unit, freeze, provenance
from midpoint.analyst.fit.factorizer import Factorizer, Progress, plainly
from midpoint.analyst.fit.priors.item_prior import sampled_predictors
from midpoint.analyst.fit.profiles import ItemProfiles, Provenance
from midpoint.analyst.fit.sets.factorization import Incidence
from midpoint.analyst.fit.sets.training import fit_sets
from midpoint.analyst.fit.sets.tuning import choose_setting
from midpoint.analyst.learn.reports import CollectedReports
from midpoint.analyst.learn.training_set import with_unknown
from midpoint.data import Feature
from midpoint.errors import MidpointError

CHUNK = 2**20
"""Ratings that are in memory at a time."""
SAMPLE = 10_000
"""People in memory, at most, whose sets show which items are alike and on whom settings of sets
are tried."""
ON_DISK = 36
"""Bytes that a rating takes on disk meanwhile, at most."""
Float = NDArray[np.float64]


def fit_from_disk(
    factorizer: Factorizer,
    scan: Scan,
    feature: Sequence[str] = (),
    *,
    reports: CollectedReports | None = None,
    workspace: Path | None = None,
    progress: Callable[[Progress], None] | None = None,
    then: Then | None = None,
    unfinished: Unfinished | None = None,
) -> ItemProfiles:
    """Learn item profiles from ratings on disk, as `Factorizer.fit` does from those in memory.

    Memory holds the users' and items' profiles and a few chunks of ratings; the disk holds 36
    bytes a rating until the fit is done. Reports, which are checked in memory, take about 60 bytes
    of it each.

    Args:
        factorizer: The settings.
        scan: The ratings.
        feature: The private feature; several make a joint one.
        reports: What other people reported; items are learned from it, too.
        workspace: Directory for columns during the fit; the system's temporary one unless given.
        progress: Hears how far the fit has come.
        then: Learns more from the people, by their ratings on disk; needs a private feature.
        unfinished: Keeps the item profiles and has the columns, so that a killed run goes on.
    """
    require_supported(factorizer, "stream")
    private = scan.feature(feature)
    statistics = tally_scan(scan, private) if private else None
    biases: Estimation = "plain" if factorizer.biases == "plain" else "shrunken"
    offset = mean_effects(statistics, biases).effect if statistics else None
    left = unfinished or Unfinished()
    both = Beside.of(scan, private, reports, factorizer.seed)
    with left.columns(workspace) as directory:
        _require_space(directory, int(both.by_user.sum()))
        ratings = sort_on_disk(both.coded(), "user", both.by_user, directory / "by-user")
        _require_one_each(ratings, scan)
        made = provenance(
            factorizer,
            scan.name,
            digest_of(ratings, scan),
            factorizer.iterations,
            engine="stream",
            more=("polars",),
        )
        made = both.noted(made)
        profiles = left.profiles(made)
        if profiles is None and scan.scale.is_unary:
            fixed = private, statistics, made
            profiles = _of_sets(factorizer, both, ratings, *fixed, directory, progress)
        elif profiles is None:
            unit, seen = _standardized(ratings, both, private, offset, directory)
            if factorizer.sets:
                some = _sampled_sets(ratings, both, factorizer.seed)
                seen = seen._replace(predictors=sampled_predictors(some))
            factors = alternate(
                seen,
                dimension=factorizer.dimension,
                iterations=factorizer.iterations,
                regularization=factorizer.regularization,
                seed=factorizer.seed,
                threads=factorizer.threads,
                after_iteration=_reporter(unit, factorizer.iterations, progress),
            )
            del seen
            profiles = freeze(made, _catalogue(scan), private, statistics, offset, unit, factors)
            del factors
        if then is None or private is None:
            return profiles
        left.keep(profiles)
        offsets, n = _offsets(counts(scan.users)), scan.ratings  # the panel's come first
        known = ByUser(offsets, ratings.item[:n], ratings.value[:n], private, scan.user_ids)
        return then(profiles, known)


def _catalogue(scan: Scan) -> Catalogue:
    rated = np.ones(scan.items.height, np.bool_)
    return Catalogue(scan.item_ids, scan.item_names, rated, scan.scale)


def _of_sets(
    factorizer: Factorizer,
    both: Beside,
    ratings: Triples,
    private: Feature | None,
    statistics: CategoryStatistics | None,
    made: Provenance,
    directory: Path,
    progress: Callable[[Progress], None] | None,
) -> ItemProfiles:
    """Factorize sets on disk; settings are chosen on a sample of people in memory."""
    if both.taught is not None:
        raise MidpointError("reports of sets are learned from in memory; ask for engine local")
    scan, parts = both.scan, _parts(len(ratings.value))
    chunks = (Triples(ratings.user[p], ratings.item[p], ratings.value[p]) for p in parts)
    grouped = sort_on_disk(chunks, "item", both.by_item, directory / "by-item")
    offsets = _offsets(both.by_user), _offsets(both.by_item)
    sets = Incidence(offsets[0], ratings.item, offsets[1], grouped.user, ratings.value)
    names = tuple(name for name, _ in private.parts) if private else ()
    some = sampled(scan, names, SAMPLE, factorizer.seed)
    chosen = choose_setting(factorizer, some, some.feature(*names) if names else None)
    known = private, statistics, made
    return fit_sets(factorizer, sets, chosen, _catalogue(scan), *known, plainly(progress))[0]


def _sampled_sets(ratings: Triples, both: Beside, seed: int) -> sparse.csr_matrix:
    """Return what some people rated, at random among all. Shape (people, items)."""
    offsets, people = _offsets(both.by_user), len(both.by_user)
    chosen = np.sort(np.random.default_rng(seed).permutation(people)[:SAMPLE])
    item = [ratings.item[offsets[user] : offsets[user + 1]] for user in chosen.tolist()]
    every = np.concatenate(item)
    shape = len(chosen), len(both.by_item)
    return sparse.csr_matrix((np.ones(len(every)), every, _offsets(both.by_user[chosen])), shape)


def digest_of(ratings: Triples, scan: Scan) -> str:
    """Return the digest that `Ratings.digest` gives the same ratings in memory."""
    total = hashlib.sha256()
    for column in ratings:
        total.update(column.nbytes.to_bytes(8, "big"))
        for part in _parts(len(column)):
            total.update(column[part].tobytes())
    words = [
        scan.scale.digested,
        "\0".join(scan.user_ids.tolist()),
        "\0".join(scan.item_ids.tolist()),
    ]
    rest = [text.encode() for text in words]
    for name in sorted(scan.features):
        known = scan.features[name]
        rest += ["\0".join([name, *known.categories]).encode(), known.codes.tobytes()]
    for content in rest:
        total.update(len(content).to_bytes(8, "big"))
        total.update(content)
    return total.hexdigest()


def _standardized(
    ratings: Triples, both: Beside, feature: Feature | None, offset: Float | None, directory: Path
) -> tuple[Unit, Observations]:
    """Write (r - level - offset) / spread in both orders, and classes of noise beside them."""
    codes = None if feature is None else with_unknown(feature, both.people).codes

    def residuals() -> Iterator[tuple[slice, NDArray[np.float32]]]:
        for part in _parts(len(ratings.value)):
            value = ratings.value[part]
            if codes is not None and offset is not None:
                category = codes[ratings.user[part]]
                added = np.where(category >= 0, offset[ratings.item[part], category], 0.0)
                value = value - added.astype(np.float32)
            yield part, value

    n = len(ratings.value)
    level = sum(float(value.sum(dtype=np.float64)) for _, value in residuals()) / n
    squares = sum(float(((value - level) ** 2).sum(dtype=np.float64)) for _, value in residuals())
    unit = Unit(level, max((squares / n) ** 0.5, 1e-6))
    with (directory / "standard").open("wb") as stream:
        for _, value in residuals():
            standard = (value - np.float32(unit.level)) / np.float32(unit.spread)
            stream.write(standard.astype(np.float32).tobytes())
    seen = ratings._replace(value=mapped(directory / "standard", np.float32, n))

    def by_item(value: NDArray[np.generic], name: str) -> Triples:
        parts = ((seen.user[p], seen.item[p], value[p].astype(np.float32)) for p in _parts(n))
        chunks = (Triples(*columns) for columns in parts)
        return sort_on_disk(chunks, "item", both.by_item, directory / name)

    grouped, noise = by_item(seen.value, "by-item"), both.noise()
    kinds = None if noise is None else by_item(noise.kind, "kinds").value.astype(np.int8)
    return unit, Observations(
        user=seen.user,
        item=seen.item,
        value=seen.value,
        user_offsets=_offsets(both.by_user),
        item_offsets=_offsets(both.by_item),
        item_order=np.empty(0, np.int64),
        known=np.zeros((len(both.by_user), 0), np.float32),
        grouped=(grouped.user, grouped.value),
        report_noise=noise and noise.scaled(unit.spread**-2),
        grouped_kind=kinds,
    )


def _require_space(directory: Path, ratings: int) -> None:
    """Refuse a disk that would be full before the fit is done."""
    wanted, free = ON_DISK * ratings, shutil.disk_usage(directory).free
    if free < wanted:
        raise MidpointError(
            f"{directory.parent} has {free / 1e9:.1f} GB left, and {ratings} ratings take"
            f" {wanted / 1e9:.1f} GB there meanwhile; make room, or write to another disk"
        )


def _require_one_each(ratings: Triples, scan: Scan) -> None:
    for part in _parts(len(ratings.user), overlap=1):
        user, item = ratings.user[part], ratings.item[part]
        again = np.flatnonzero((user[1:] == user[:-1]) & (item[1:] == item[:-1]))
        if len(again):
            who, what = scan.user_ids[user[again[0]]], scan.item_ids[item[again[0]]]
            raise MidpointError(
                f"{scan.name}: user {who} rates item {what} again; keep one rating for each pair"
            )


def _reporter(
    unit: Unit, iterations: int, progress: Callable[[Progress], None] | None
) -> Callable[[int, Factors], bool]:
    def watch(k: int, factors: Factors) -> bool:
        if progress:
            rmse = unit.spread * float(np.sqrt(factors.noise_variance))
            progress(Progress(k + 1, iterations, rmse))
        return False

    return watch


def _parts(length: int, overlap: int = 0) -> Iterator[slice]:
    return (slice(start, start + CHUNK + overlap) for start in range(0, length, CHUNK))


def _offsets(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.append(np.int64(0), np.cumsum(counts))
