"""The paper's Figure 2 walked with files only, beside an agent at a service of the same files."""

import json
from pathlib import Path
from typing import NamedTuple

import pytest

from midpoint.user import DeviceSecret, Ledger, PrivateCategory
from midpoint.user.agent import Agent, Patience, Terms
from midpoint.user.agent.channel import Channel
from midpoint.wire import (
    ONE,
    Catalogue,
    Disclosure,
    Message,
    Published,
    Receipt,
    Report,
    Scores,
    Solicitation,
    SolicitationRequest,
)
from tests.support.models.small_model import run
from tests.support.sites.tiny_analyst import Account, TinyAnalyst

pytestmark = pytest.mark.slow

ROUNDS, BUDGET, TOP = 2, 12, 15


class Files(NamedTuple):
    """What analyst and user exchange."""

    root: Path

    @property
    def model(self) -> Path:
        return self.root / "model"

    @property
    def published(self) -> Path:
        return self.root / "published.json"

    def question(self, number: int) -> Path:
        return self.root / f"question-{number}.json"

    def report(self, number: int, name: str = "report") -> Path:
        return self.root / f"{name}-{number}.json"

    @property
    def scores(self) -> Path:
        return self.root / "scores.json"

    def ratings(self) -> Path:
        """Write down ratings of two titles in three, by title."""
        titles = json.loads(Published.parse(self.published.read_bytes()).catalogue)["titles"]
        path = self.root / "ratings.json"
        rated = {title: 1 + n % 5 for n, title in enumerate(titles) if n % 3}
        path.write_text(json.dumps(rated))
        return path

    def category(self, name: str) -> Path:
        """Write down a category, for one person's eyes only."""
        path = self.root / f"category-{name}"
        path.write_text(f"gender={name}\n")
        path.chmod(0o600)
        return path


def walk(files: Files, category: str, name: str = "report") -> list[str]:
    """Walk the figure by files; return the ranked items."""
    home, hers = files.root / f"home-{name}", files.category(category)
    ratings = files.ratings()
    reports: list[Path] = []
    for number in range(ROUNDS):
        past = [word for report in reports for word in ("--report", report)]
        question = files.question(number)
        run("solicit", files.model, *past, "--budget", BUDGET, "--round", number, "--out", question)
        report = files.report(number, name)
        read = ("--disclosure", files.published, "--question", question, "--ratings", ratings)
        run("protect", *read, "--home", home, "--category-file", hers, "--out", report)
        reports.append(report)
    run("recommend", files.model, *reports, "--top", TOP, "--out", files.scores)
    best = run(
        *("rank", "--scores", files.scores, "--home", home, "--category-file", hers),
        *("--top", TOP, "--json"),
    )
    return [row["item"] for row in best]


class ServedFiles(TinyAnalyst):
    """A service that shows, asks and scores what the files say."""

    def __init__(self, files: Files) -> None:
        self.files = files
        self.shown = Published.parse(files.published.read_bytes())
        super().__init__(Disclosure.parse(self.shown.disclosure))

    def public(self, path: str) -> Message:
        if path == "/v1/chain":
            return self.shown.chain
        if path.endswith("/certificates"):
            return self.shown.certificates
        if path.startswith("/v1/catalogues/"):
            return Catalogue.parse(self.shown.catalogue)
        return Disclosure.parse(self.shown.disclosure)

    def solicit(self, account: Account, ask: SolicitationRequest) -> Message:  # noqa: ARG002
        number = 0 if ask.after is None else ask.after + 1
        return Solicitation.parse(self.files.question(number).read_bytes())

    def keep(self, account: Account, report: Report) -> Message:
        account.reports[report.round] = report
        return Receipt(report=report.digest, answers=len(report.answers))

    def score(self) -> Scores:
        return Scores.parse(self.files.scores.read_bytes())


@pytest.mark.parametrize("counterparts", ["none", "sets"])
def test_files_and_agent_send_and_rank_the_same(
    counterparts: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With one secret: the same decisions, report bytes and ranking.

    The control is somebody of the other category with the same ratings and the same secret.
    """
    secret = DeviceSecret(bytes(range(32)))
    monkeypatch.setattr(DeviceSecret, "generate", lambda: secret)
    files = Files(tmp_path)
    quick = ("--dimension", 3, "--iterations", 3, "--counterparts", counterparts)
    run("train", "simulated-tiny", "--feature", "gender", *quick, "--out", files.model)
    run("publish", files.model, tmp_path / "site", "--out", files.published)
    ranked = walk(files, "F")
    service = ServedFiles(files)
    try:
        terms, channel = Terms(plain_http=True), Channel(Patience(tries=1))
        with Agent.open(service.address, tmp_path / "agent", terms, channel) as agent:
            woman = PrivateCategory({"gender": "F"})
            titles = agent.connect().titles
            given = json.loads(files.ratings().read_text())
            stars = {item: float(given[title]) for item, title in titles.items() if title in given}
            for _ in range(ROUNDS):
                agent.solicit()
                agent.answer(stars, woman)
                agent.submit()
            best = agent.recommend(TOP, woman)
            rounds, token = agent.home.ledger.rounds, agent.home.token
            ratings = agent.home.ratings
    finally:
        service.stop()
    (account,) = service.accounts.values()
    sent = [account.reports[number].raw for number in range(ROUNDS)]
    assert sent == [files.report(number).read_bytes() for number in range(ROUNDS)]
    withheld = [item for answered in rounds for item in answered.withheld]
    assert withheld
    assert all(json.loads(raw)["answers"] for raw in sent)
    with Ledger.open(tmp_path / "home-report" / "device") as ledger:
        assert ledger.rounds == rounds
    assert ranked == [row.item for row in best]
    assert len(ranked) == TOP
    assert token not in str([path.read_bytes() for path in tmp_path.glob("*.json")])
    assert ratings == {item: int(value * ONE) for item, value in stars.items()}
    # The control
    assert walk(files, "M", "his") != ranked
    his = [files.report(number, "his").read_bytes() for number in range(ROUNDS)]
    assert his[0] != sent[0]
