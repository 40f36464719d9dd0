"""The audit for a paper: a table in LaTeX, and what to cite."""

from midpoint import __version__
from midpoint.audit.measure.findings import RMSE
from midpoint.audit.measure.results import AuditResults
from midpoint.audit.report.settings import label
from midpoint.audit.report.tradeoff import plain_schemes
from midpoint.audit.report.verdict import judge

SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
}
CITATION = (
    "@software{midpoint,\n  title = {Midpoint: a recommender that cannot learn what you keep"
    " private},\n  author = {{The Midpoint authors}},\n  version = {%s},\n  year = {%s},\n"
    "  license = {Apache-2.0}\n}\n"
    "@inproceedings{ioannidis2014privacy,\n  title = {Privacy Tradeoffs in Predictive Analytics},\n"
    "  author = {Ioannidis, Stratis and Montanari, Andrea and Weinsberg, Udi and Bhagat, Smriti and"
    " Fawaz, Nadia and Taft, Nina},\n  booktitle = {SIGMETRICS},\n  year = {2014}\n}"
)
"""What to cite, with version and year to be filled in."""


def citation(results: AuditResults, year: int) -> str:
    """Return what to cite, as BibTeX."""
    return CITATION % (results.versions.get("midpoint", __version__), year)


def latex(results: AuditResults) -> str:
    """Return a table of all schemes in LaTeX, for the package booktabs."""
    rows = []
    for scheme in plain_schemes(results):
        verdict, error = judge(results, scheme), results.get(scheme, RMSE[2])
        cost = results.cost(scheme)
        area, attack = "--", "--"
        if verdict is not None:
            row = verdict.strongest
            area = f"{row.value:.3f} [{row.low:.3f}, {row.high:.3f}]"
            attack = rf"\texttt{{{_escaped(row.attack)}}}"
        rmse = "--" if error is None else f"{error.value:.4f}"
        more = "--" if cost is None else rf"${100 * cost:+z.1f}\,\%$"
        rows.append(
            " & ".join([rf"\texttt{{{_escaped(label(scheme))}}}", area, attack, rmse, more])
        )
    people = f"{int(results.description['users']):,}"
    caption = (
        f"{_escaped(results.dataset)}, {_escaped(results.feature)}: AUC of the strongest attack"
        f" with its 95\\,\\% interval, error of predictions and its cost; {people} people,"
        f" {results.folds} folds."
    )
    body = " \\\\\n".join(rows)
    return (
        "\\begin{table}\n\\caption{" + caption + "}\n\\begin{tabular}{llllr}\n\\toprule\n"
        "scheme & AUC & attack & RMSE & cost \\\\\n\\midrule\n"
        f"{body} \\\\\n\\bottomrule\n\\end{{tabular}}\n\\end{{table}}"
    )


def _escaped(text: str) -> str:
    return "".join(SPECIAL.get(sign, sign) for sign in text)
