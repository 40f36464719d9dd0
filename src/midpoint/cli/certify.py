"""`midpoint certify`: sign what an audit measured over a disclosure's digest."""

import time
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from midpoint.cli.options import source as options
from midpoint.cli.options.messages import read_message
from midpoint.wire import Disclosure, Signed, SigningKey


def certify_command(
    directory: Annotated[
        Path, typer.Argument(help="Directory of a finished audit.", show_default=False)
    ],
    source: options.Source,
    disclosure: Annotated[Path, typer.Option(help="The disclosure to vouch for.")],
    key: Annotated[Path, typer.Option(help="The auditor's signing key; made if it is not there.")],
    out: Annotated[Path, typer.Option(help="Where to write the signed certificate.")],
    auditor: Annotated[str, typer.Option(help="Who measured.")],
    at_least: options.AtLeast = 1,
    levels: options.Levels = None,
    users: options.Users = None,
    user_column: options.UserColumn = None,
    item_column: options.ItemColumn = None,
    rating_column: options.RatingColumn = None,
    item_columns: options.ItemColumns = None,
    feature_columns: options.FeatureColumns = None,
    scale: options.ScaleText = None,
) -> None:
    """Sign a certificate: which disclosure, on which data, what the strongest attacker read.

    SOURCE is the audited data. A disclosure that it does not give, by the audit's settings, is
    refused: nobody measured it. So is an audit made with other code, and one in which nobody
    tried who can read raw ratings.
    """
    from midpoint.audit.measure.results import AuditResults
    from midpoint.audit.report.certificate import certificate, factorizer_of, scheme_of
    from midpoint.audit.report.verdict import judge
    from midpoint.audit.run.store import Store
    from midpoint.files import replace_file

    console = Console(highlight=False, soft_wrap=True)
    results = AuditResults.load(directory)
    factorizer = factorizer_of(Store(directory).manifest())
    told = read_message(disclosure, Disclosure)
    with console.status("Making the disclosure anew"):
        ratings = options.load_source(
            source,
            users=users,
            user_column=user_column,
            item_column=item_column,
            rating_column=rating_column,
            item_columns=item_columns,
            feature_columns=feature_columns,
            scale=scale,
            seed=results.seed,
            at_least=at_least,
            levels=levels,
        )
        signer = SigningKey.load(key) if key.exists() else SigningKey.generate()
        made = certificate(
            results,
            told,
            ratings,
            factorizer,
            auditor=auditor,
            key=signer.public,
            time=int(time.time()),
        )
    if not key.exists():
        signer.save(key)
        console.print(f"A new key is in {key}; keep it", markup=False)
    replace_file(out, Signed.seal(made, signer).raw)
    scheme = scheme_of(results, told)
    verdict, band = judge(results, scheme), results.bands[scheme]
    found = "" if verdict is None else f": {verdict.sentence}"
    console.print(
        f"{auditor} vouches for {told.digest[:16]} ({told.scheme}){found}\n"
        f"That is the strongest of {band.attackers} attackers in {results.folds} folds, which the"
        " certificate does not say; its band is the narrow one\n"
        f"The certificate is {out}; its key {signer.public}",
        markup=False,
    )
