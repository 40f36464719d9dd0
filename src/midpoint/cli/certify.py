"""`midpoint certify`: sign what an audit measured over a disclosure's digest."""

import time
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from midpoint.cli.messages import read_message
from midpoint.wire import MILLION, Disclosure, Signed, SigningKey


def certify_command(
    directory: Annotated[
        Path, typer.Argument(help="Directory of a finished audit.", show_default=False)
    ],
    disclosure: Annotated[Path, typer.Option(help="The disclosure to vouch for.")],
    key: Annotated[Path, typer.Option(help="The auditor's signing key; made if it is not there.")],
    out: Annotated[Path, typer.Option(help="Where to write the signed certificate.")],
    auditor: Annotated[str, typer.Option(help="Who measured.")],
) -> None:
    """Sign a certificate: which disclosure, on which data, what the strongest attacker read."""
    from midpoint.audit.certifying import certificate
    from midpoint.audit.results import AuditResults
    from midpoint.files import replace_file

    console = Console(highlight=False, soft_wrap=True)
    results = AuditResults.load(directory)
    told = read_message(disclosure, Disclosure)
    signer = SigningKey.load(key) if key.exists() else _new_key(console, key)
    now = int(time.time())
    made = certificate(results, told, auditor=auditor, key=signer.public, time=now)
    replace_file(out, Signed.seal(made, signer).raw)
    low, high, null_low, null_high = (
        value / MILLION for value in (made.auc_low, made.auc_high, made.null_low, made.null_high)
    )
    console.print(
        f"{auditor} vouches for {told.digest[:16]} ({told.scheme}): strongest attacker"
        f" {made.auc / MILLION:.3f} ({made.attack}, {low:.3f}-{high:.3f}), chance band"
        f" {null_low:.3f}-{null_high:.3f}\nThe certificate is {out}; its key {signer.public}",
        markup=False,
    )


def _new_key(console: Console, path: Path) -> SigningKey:
    signer = SigningKey.generate()
    signer.save(path)
    console.print(f"A new key is in {path}; keep it", markup=False)
    return signer
