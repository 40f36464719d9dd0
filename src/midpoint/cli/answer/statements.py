"""What a person is shown of the checks, and of what leaves her device."""

from typing import TYPE_CHECKING

from rich.markup import escape

from midpoint.cli.answer.tables import leaving_table
from midpoint.wire import ONE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from midpoint.cli.answer.terminal import Terminal
    from midpoint.user.agent import Home, Standing
    from midpoint.user.agent.rows import PreviewLine
    from midpoint.wire import Certificate, Disclosure, RatingScale

ADVERSARIES = frozenset({"clean", "panel", "published", "outsider"})
"""The adversaries that this version can describe; see the threat model."""


def say_standing(terminal: "Terminal", standing: "Standing", *, witnessed: bool) -> None:
    """Say what is protected, whether an auditor certified it, and whether a witness saw it."""
    disclosure, say = standing.accepted.disclosure, terminal.say
    protected = ", ".join(feature.name for feature in disclosure.features)
    say(
        f"[green]Checked.[/green] {len(disclosure.items)} titles; protected here:"
        f" [b]{escape(protected)}[/b]; entry {standing.accepted.entry.sequence} of the"
        " service's list.",
        markup=True,
    )
    if standing.accepted.succeeded is not None:
        say(
            f"The service signs with a new key, {standing.accepted.pin.key}. The key that this"
            f" device knew, {standing.accepted.succeeded}, vouched for it in the list."
        )
    say(f"Scheme {disclosure.scheme}: {what_it_hides(disclosure, protected)}")
    certificate = standing.certificate
    if certificate is None:
        say("[yellow]No auditor that you named has certified this:[/yellow] the numbers are"
            " consistent, but nobody vouches that they are true.", markup=True)  # fmt: skip
    else:
        say(
            f"Certified by {certificate.auditor}: the strongest attack has AUC"
            f" {certificate.auc / 1e6:.2f} ({certificate.auc_low / 1e6:.2f} to"
            f" {certificate.auc_high / 1e6:.2f}; 0.50 is blind guessing), all titles together."
            f" {against(certificate)}"
        )
    if disclosure.keep is not None and max(disclosure.keep) < ONE:
        say(what_is_withheld(disclosure))
    if disclosure.leak is not None:
        say(
            "Somebody who knew all errors of the service's numbers would pick the right one of two"
            f" people at most {100 * disclosure.leak / ONE:.0f} times in 100. That is the service's"
            " own word."
        )
    if not witnessed:
        say("No witness was named: a disclosure made for you alone would go unnoticed.")
    elif standing.accepted.superseded:
        say("A newer disclosure is out; you answer under this one until the witness has shown the"
            " newer one long enough.")  # fmt: skip


def what_it_hides(disclosure: "Disclosure", protected: str) -> str:
    """Say what a scheme hides title by title, and what it does not."""
    from midpoint.user.checks.disclosure import hides_rated

    together = "Titles read together can reveal more."
    if hides_rated(disclosure):
        return (
            f"title by title, neither an answer nor its absence says anything about {protected}."
            f" {together}"
        )
    return (
        f"title by title, the values of your answers say nothing about {protected}; which titles"
        f" you rate is not hidden, and can reveal it. {together}"
    )


def what_is_withheld(disclosure: "Disclosure") -> str:
    """Say which share of everybody's answers is withheld, and whether a device still uses them."""
    from midpoint.user.checks.disclosure import hides_rated

    share = 1 - max(disclosure.keep or (ONE,)) / ONE
    more = ", and more of what your category rates more often" if hides_rated(disclosure) else ""
    used = " Your device still uses them for what it shows you." if disclosure.prior else ""
    return f"A coin withholds {share:.0%} of your answers, as of everybody's{more}.{used}"


def what_is_demanded(home: "Home") -> list[str]:
    """Say what she demands of a service, a line for each kind."""
    from midpoint.user.agent import Terms
    from midpoint.wire.record import SHOWN_FOR

    terms, said = Terms.of(home.demands), []
    witness = terms.witness or home.proof.asked
    hours = f"{terms.shown_for / 3600:g} hours"
    if witness is not None:
        key = " with the key that you named" if terms.witness_key else ""
        said.append(f"the witness {witness}{key} shows a disclosure for {hours} first")
    elif terms.shown_for != SHOWN_FOR:
        said.append(f"a witness shows a disclosure for {hours} first")
    if terms.require_certificate:
        said.append(
            f"an auditor that you trust ({len(terms.auditors)} named) certified an AUC of at most"
            f" {terms.most_auc:g}"
        )
    if terms.most_leak is not None:
        said.append(f"the leak budget is at most an AUC of {terms.most_leak:g}")
    return said


def say_demands(terminal: "Terminal", home: "Home") -> None:
    """Say what she demands, if it is anything."""
    if said := what_is_demanded(home):
        terminal.say(f"You demand that {'; that '.join(said)}.")


def against(certificate: "Certificate") -> str:
    """Say whom a certificate's figure was measured against."""
    if certificate.adversary is None:
        return "It does not say against whom that was measured."
    if certificate.adversary not in ADVERSARIES:
        return (
            "It was measured against an adversary that this version does not know, so this figure"
            " says nothing here."
        )
    people, others = f"{certificate.panel or 0:,}", f"{certificate.outsiders or 0:,}"
    if certificate.adversary == "outsider":
        return (
            f"Measured against somebody who knows this of {others} other users, whose answers are"
            f" protected like yours (from a panel of {people})."
        )
    if certificate.adversary == "clean":
        return (
            f"Measured against somebody who has the ratings of a panel of {people}, and does not"
            " know how answers are protected. Somebody who knows more may find more."
        )
    return (
        f"Measured against an analyst with a panel of {people} alone. Somebody who knows this of"
        " other users may find more."
    )


def say_leaving(
    terminal: "Terminal",
    lines: "Sequence[PreviewLine]",
    scale: "RatingScale",
    *,
    final: str = "sent",
    mark: str | None = None,
    thinned: bool = False,
    clear: bool = False,
) -> None:
    """Show line by line what leaves, what is withheld, and why; it is final once it is `final`."""
    terminal.say(leaving_table(lines, scale, mark, thinned=thinned, clear=clear))
    sent = sum(line.fate.value == "sent" for line in lines)
    held = sum(line.fate.value == "withheld" for line in lines)
    stay = f"{held} {'is' if held == 1 else 'are'} withheld for good"
    if clear:
        terminal.say(
            f"{sent} of {len(lines)} {'titles' if mark else 'ratings'} leave now, in one report,"
            f" and nothing of it is protected.\nOnce {final}, this is final: changing your mind"
            " later changes nothing there."
        )
        return
    if mark:
        terminal.say(
            f"{sent} of {len(lines)} titles leave now, in one report; {stay}. To the service,"
            f" withheld and not {mark} look the same.\nOnce {final}, this is final:"
            " changing your mind later changes nothing there."
        )
        return
    terminal.say(
        f"{sent} of {len(lines)} ratings leave now, in one report; {stay}."
        f" To the service, withheld and unrated look the same.\nOnce {final}, this is final:"
        " changing a rating later changes nothing there."
    )
