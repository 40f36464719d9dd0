"""The paper's own numbers (Sec. 7, Table 1, Figures 4 and 5), to be shown beside ours."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple


class PaperNumbers(NamedTuple):
    """One scheme on one data set; its AUCs are folded to 0.5 and above."""

    lse: float
    """AUC of least squares."""
    lr: float
    """AUC of logistic regression."""
    nb: float
    """AUC of naive Bayes."""
    svm: float | None
    """AUC of the support vector machine, where it was run."""
    rmse: float | None
    """Error of predictions with the inferred feature, where it is on the same scale."""


class PaperData(NamedTuple):
    """One data set of the paper's Table 1, as it stands there."""

    users: str
    """How many users."""
    items: str
    """How many items."""
    ratings: str
    """How many ratings."""
    skews: Mapping[str, tuple[str, str]]
    """By feature, how the categories share users and ratings."""


PAPER: Mapping[tuple[str, str], Mapping[str, PaperNumbers]] = MappingProxyType(
    {
        ("movielens-1m", "gender"): {
            "no": PaperNumbers(0.819, 0.841, 0.810, 0.745, 0.919),
            "mp": PaperNumbers(0.606, 0.811, 0.795, 0.716, 0.928),
            "fa": PaperNumbers(0.781, 0.835, 0.803, 0.732, 1.043),
            "ia": PaperNumbers(0.790, 0.834, 0.804, 0.733, 1.037),
            "mpr": PaperNumbers(0.636, 0.818, 0.797, 0.723, 0.929),
            "ss": PaperNumbers(0.680, 0.515, 0.567, 0.536, 0.933),
            "mpss": PaperNumbers(0.534, 0.542, 0.542, 0.571, 0.940),
            "mpssr": PaperNumbers(0.511, 0.538, 0.548, 0.569, 0.940),
            "ssfa": PaperNumbers(0.780, 0.541, 0.544, 0.568, 1.045),
            "ssia": PaperNumbers(0.555, 0.545, 0.545, 0.565, 1.042),
        },
        ("movielens-1m", "age"): {
            "no": PaperNumbers(0.804, 0.890, 0.817, 0.817, 0.918),
            "mp": PaperNumbers(0.568, 0.861, 0.808, 0.786, 0.926),
            "fa": PaperNumbers(0.714, 0.882, 0.819, 0.804, 1.040),
            "ia": PaperNumbers(0.758, 0.883, 0.820, 0.816, 1.037),
            "mpr": PaperNumbers(0.603, 0.868, 0.811, 0.796, 0.926),
            "ss": PaperNumbers(0.690, 0.534, 0.563, 0.504, 0.928),
            "mpss": PaperNumbers(0.537, 0.510, 0.552, 0.533, 0.934),
            "mpssr": PaperNumbers(0.514, 0.503, 0.551, 0.534, 0.935),
            "ssfa": PaperNumbers(0.527, 0.504, 0.548, 0.537, 1.037),
            "ssia": PaperNumbers(0.531, 0.512, 0.546, 0.534, 1.036),
        },
        ("flixster", "gender"): {
            "no": PaperNumbers(0.785, 0.838, 0.757, None, 0.859),
            "mp": PaperNumbers(0.582, 0.803, 0.738, None, 0.865),
            "fa": PaperNumbers(0.763, 0.819, 0.744, None, 1.053),
            "ia": PaperNumbers(0.774, 0.824, 0.745, None, 1.050),
            "mpr": PaperNumbers(0.609, 0.808, 0.740, None, 0.865),
            "ss": PaperNumbers(0.709, 0.549, 0.570, None, 0.867),
            "mpss": PaperNumbers(0.515, 0.503, 0.546, None, 0.872),
            "mpssr": PaperNumbers(0.539, 0.507, 0.551, None, 0.872),
            "ssfa": PaperNumbers(0.605, 0.501, 0.547, None, 1.054),
            "ssia": PaperNumbers(0.597, 0.505, 0.547, None, 1.054),
        },
        ("ptv", "gender"): {
            "no": PaperNumbers(0.697, 0.695, 0.722, 0.634, 1.257),
            "mp": PaperNumbers(0.546, 0.564, 0.546, 0.567, 1.284),
            "fa": PaperNumbers(0.561, 0.511, 0.510, 0.548, 1.372),
            "ia": PaperNumbers(0.507, 0.508, 0.550, 0.538, 1.368),
            "mpr": PaperNumbers(0.506, 0.521, 0.528, 0.543, 1.274),
            "ss": PaperNumbers(0.710, 0.606, 0.677, 0.537, 1.263),
            "mpss": PaperNumbers(0.537, 0.542, 0.502, 0.594, 1.272),
            "mpssr": PaperNumbers(0.507, 0.504, 0.533, 0.538, 1.278),
            "ssfa": PaperNumbers(0.516, 0.513, 0.526, 0.503, 1.375),
            "ssia": PaperNumbers(0.537, 0.555, 0.514, 0.504, 1.368),
        },
        ("ptv", "politics"): {
            "no": PaperNumbers(0.806, 0.743, 0.758, 0.649, 1.242),
            "mp": PaperNumbers(0.511, 0.532, 0.545, 0.569, 1.255),
            "fa": PaperNumbers(0.510, 0.509, 0.554, 0.524, 1.375),
            "ia": PaperNumbers(0.520, 0.522, 0.501, 0.538, 1.362),
            "mpr": PaperNumbers(0.534, 0.507, 0.560, 0.522, 1.261),
            "ss": PaperNumbers(0.798, 0.754, 0.767, 0.668, 1.240),
            "mpss": PaperNumbers(0.516, 0.536, 0.524, 0.597, 1.255),
            "mpssr": PaperNumbers(0.571, 0.536, 0.546, 0.541, 1.255),
            "ssfa": PaperNumbers(0.536, 0.572, 0.536, 0.530, 1.373),
            "ssia": PaperNumbers(0.517, 0.538, 0.514, 0.511, 1.368),
        },
    }
)
"""By data set and feature, and by scheme."""

_PTV = PaperData(
    "365",
    "50",
    "18K",
    {"gender": ("F:M 2.7:1", "F:M 2.7:1"), "politics": ("R:D 1:1.4", "R:D 1:1.4")},
)
PAPER_DATA: Mapping[str, PaperData] = MappingProxyType(
    {
        "movielens-1m": PaperData(
            "6K",
            "3K",
            "1M",
            {"gender": ("F:M 1:2.5", "F:M 1:3"), "age": ("Y:A 1:1.3", "Y:A 1:1.6")},
        ),
        "flixster": PaperData("26K", "9921", "5.6M", {"gender": ("F:M 1.7:1", "F:M 1.5:1")}),
        "ptv": _PTV,
        "politics-and-tv": _PTV,
    }
)
"""Table 1, by data set; others that are like these are not in it."""

STAND_INS: Mapping[tuple[str, str], tuple[str, str]] = MappingProxyType(
    {
        ("movielens-100k", "gender"): ("movielens-1m", "gender"),
        ("movielens-100k", "age"): ("movielens-1m", "age"),
        ("politics-and-tv", "gender"): ("ptv", "gender"),
        ("politics-and-tv", "politics"): ("ptv", "politics"),
        ("anes-tv", "gender"): ("ptv", "gender"),
        ("anes-tv", "politics"): ("ptv", "politics"),
        ("anes-tv", "party"): ("ptv", "politics"),
        ("simulated-movielens-1m", "gender"): ("movielens-1m", "gender"),
        ("simulated-movielens-1m", "age"): ("movielens-1m", "age"),
        ("simulated-flixster", "gender"): ("flixster", "gender"),
        ("simulated-flixster-tenth", "gender"): ("flixster", "gender"),
        ("simulated-ptv", "gender"): ("ptv", "gender"),
        ("simulated-ptv", "politics"): ("ptv", "politics"),
    }
)
"""Other names of the paper's data, and what is most like data that it does not have."""


OTHER_SCALE = frozenset({"anes-tv"})
"""Data on another scale than what it stands in for: AUCs compare, errors do not."""


def paper_numbers(dataset: str, feature: str) -> tuple[str, Mapping[str, PaperNumbers]] | None:
    """Return the paper's numbers for this data or what is most like it, and a name for them."""
    known = compared_with(dataset, feature)
    if known is None:
        return None
    numbers = PAPER[known]
    if dataset in OTHER_SCALE:
        numbers = {scheme: said._replace(rmse=None) for scheme, said in numbers.items()}
    return f"{known[0]}, {known[1]}", numbers


def compared_with(dataset: str, feature: str) -> tuple[str, str] | None:
    """Return the paper's data set and feature that are these or most like them."""
    asked = (dataset, feature)
    return asked if asked in PAPER else STAND_INS.get(asked)


NAMES: Mapping[str, str] = MappingProxyType(
    {"movielens-1m": "MovieLens", "flixster": "Flixster", "ptv": "Politics-and-TV"}
)
"""How the paper calls its data."""
SIMULATED = "simulated-"
"""How the names of simulated data begin."""
SMALLER: Mapping[str, str] = MappingProxyType(
    {"simulated-flixster-tenth": " with a tenth of its people"}
)
"""What a stand-in has less of."""


OTHERS: Mapping[str, str] = MappingProxyType(
    {
        "anes-tv": "other people rated these, on another scale",
        "movielens-100k": "other people rated these",
    }
)
"""How real data differs from the paper's that it stands in for."""


def stand_in(dataset: str) -> str:
    """Say what data stands in for, and that it is simulated; nothing of the paper's own data."""
    known = next((theirs for (ours, _), (theirs, _) in STAND_INS.items() if ours == dataset), None)
    if known is not None and dataset in OTHERS:
        return f"A stand-in for {NAMES[known]}: {OTHERS[dataset]}."
    if not dataset.startswith(SIMULATED):
        return ""
    role = "" if known is None else f", a stand-in for {NAMES[known]}{SMALLER.get(dataset, '')}"
    return f"Simulated data{role}: no person rated these."
