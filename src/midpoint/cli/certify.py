"""`midpoint certify`: sign what an audit measured over a disclosure's digest."""

import time
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from midpoint.cli.options.expansion import expand
from midpoint.cli.options.messages import read_message
from midpoint.cli.options.source import DataOptions


@expand
def certify_command(
    *,
    audit: Annotated[
        Path, typer.Argument(help="Directory of a finished audit.", show_default=False)
    ],
    disclosure: Annotated[Path, typer.Option(help="The disclosure to certify.")],
    key: Annotated[Path, typer.Option(help="The auditor's signing key; created if missing.")],
    out: Annotated[Path, typer.Option(help="Where to write the signed certificate.")],
    auditor: Annotated[str, typer.Option(help="Name of the auditor.")],
    data: DataOptions,
) -> None:
    """Sign a certificate: which disclosure, on which data, and the strongest attacker's AUC.

    SOURCE is the audited data. The disclosure is made again from it with the audit's settings; a
    different one is refused, since nobody measured it. Also refused are audits made with other
    code, and audits in which no attacker succeeds on raw ratings.
    """
    from midpoint.audit.measure.results import AuditResults
    from midpoint.audit.report.certificate import certificate, factorizer_of, scheme_of
    from midpoint.audit.report.verdict import judge
    from midpoint.audit.run.store import Store
    from midpoint.files import replace_file
    from midpoint.wire import Disclosure, Signed, SigningKey

    console = Console(highlight=False, soft_wrap=True)
    results = AuditResults.load(audit)
    factorizer = factorizer_of(Store(audit).manifest())
    shown = read_message(disclosure, Disclosure)
    with console.status("Making the disclosure again"):
        ratings = data.load(results.seed)
        signer = SigningKey.load(key) if key.exists() else SigningKey.generate()
        made = certificate(
            results,
            shown,
            ratings,
            factorizer,
            auditor=auditor,
            key=signer.public,
            time=int(time.time()),
        )
    if not key.exists():
        signer.save(key)
        console.print(f"A new signing key is in {key}; keep it safe", markup=False)
    replace_file(out, Signed.seal(made, signer).raw)
    scheme = scheme_of(results, shown)
    verdict = judge(results, scheme)
    said = "" if verdict is None else f": {verdict.lines}"
    console.print(
        f"{auditor} certifies {shown.digest[:16]} ({shown.scheme}){said}\n"
        "The certificate says against whom, with how many people, folds and attackers. Its chance"
        " band is the narrow one.\n"
        f"The certificate is {out}; its key is {signer.public}",
        markup=False,
        highlight=False,
        soft_wrap=True,
    )
