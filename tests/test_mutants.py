"""Every formula of the paper, changed: a test has to fail."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
FORMULAS = "tests/protocol/test_paper_formulas.py"
REGRESSIONS = "tests/audit/attackers/test_joint.py"
DESCENT = "tests/analyst/fit/test_sgd.py"

pytestmark = pytest.mark.slow  # a process for each


class Mutant(NamedTuple):
    """One change of the source."""

    file: str
    """Below src/midpoint."""
    before: str
    """What stands there, once."""
    after: str
    """What it becomes."""
    tests: str = FORMULAS
    """The tests that have to see it."""


_ROUNDED = "shifted = np.clip(value - p.offset[item, cell], p.low, p.high)"
_IA, _FA = '("ia", False, ValueMap.ITEM_AVERAGE)', '("fa", False, ValueMap.FEATURE_AVERAGE)'
MUTANTS = {
    "sign of MP": Mutant(
        "user/core/obfuscation.py",
        "_shifted(item, value - p.offset[item, cell], p)",
        "_shifted(item, value + p.offset[item, cell], p)",
    ),
    "sign of MPr": Mutant("user/core/obfuscation.py", _ROUNDED, _ROUNDED.replace("- p", "+ p")),
    "whole difference instead of half": Mutant(
        "analyst/categories/shrinkage.py",
        "Effects(centre, table - centre[:, None])",
        "Effects(centre, 2 * (table - centre[:, None]))",
    ),
    "sign of the bias": Mutant(
        "analyst/categories/shrinkage.py",
        "Effects(centre, table - centre[:, None])",
        "Effects(centre, centre[:, None] - table)",
    ),
    "inverted ratio": Mutant(
        "analyst/disclose/disclosure.py",
        "least = p.min(axis=1, keepdims=True)\n    ratio = np.divide(least, p,",
        "least = p.max(axis=1, keepdims=True)\n    ratio = np.divide(p, least,",
    ),
    "withheld instead of revealed": Mutant(
        "user/core/obfuscation.py", "* ONE < adjustment.reveal", "* ONE >= adjustment.reveal"
    ),
    "swapped rounding": Mutant(
        "user/core/discrete.py",
        "up = u_split * gap < total - points[m]",
        "up = u_split * gap >= total - points[m]",
    ),
    "IA for FA": Mutant("wire/scheme.py", _FA, _FA.replace("FEATURE", "ITEM")),
    "FA for IA": Mutant("wire/scheme.py", _IA, _IA.replace("ITEM", "FEATURE")),
    "averages swapped": Mutant(
        "analyst/disclose/disclosure.py",
        "value_map is ValueMap.ITEM_AVERAGE:",
        "value_map is not ValueMap.ITEM_AVERAGE:",
    ),
    "1 - alpha": Mutant(
        "user/core/obfuscation.py", "uniform[:, MIX] < alpha", "uniform[:, MIX] >= alpha"
    ),
    "sign in least squares": Mutant(
        "audit/attackers/joint.py",
        "[:, None] - known[item]",
        "[:, None] + known[item]",
        REGRESSIONS,
    ),
    "category of the greatest error": Mutant(
        "audit/attackers/joint.py",
        "np.argmin(fitted.loss, axis=1)",
        "np.argmax(fitted.loss, axis=1)",
        REGRESSIONS,
    ),
    "penalty not by rating": Mutant(
        "audit/attackers/joint.py", "each * count[:, None]", "each", REGRESSIONS
    ),
    "one penalty for another": Mutant(
        "audit/attackers/joint.py", "ridge(MATCHED)", "ridge(penalty)", REGRESSIONS
    ),
    "means in Eq. 1": Mutant(
        "analyst/fit/sgd.py", "np.float32(step if means else 0)", "np.float32(step)", DESCENT
    ),
    "a level in Eq. 1": Mutant(
        "analyst/fit/standardized.py", "if centred else 0.0", "if centred else 1.0", DESCENT
    ),
}


def status_of(source: Path, tests: str) -> int:
    """Run some tests on some source; return the exit status of pytest."""
    quiet = ("-q", "-x", "-p", "no:cacheprovider", "-p", "no:schemathesis", "-k", "not refused")
    command = [sys.executable, "-m", "pytest", *quiet, str(ROOT / tests)]
    environment = os.environ | {"PYTHONPATH": f"{source}{os.pathsep}{ROOT}"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=False)
    return done.returncode


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = tmp_path_factory.mktemp("mutants") / "src"
    ignored = shutil.ignore_patterns("__pycache__", "*.js", "*.html")
    shutil.copytree(ROOT / "src", source, ignore=ignored)
    return source


@pytest.mark.parametrize("tests", [FORMULAS, REGRESSIONS, DESCENT])
def test_the_source_as_it_is_passes(copy: Path, tests: str) -> None:
    assert status_of(copy, tests) == 0


@pytest.mark.parametrize("name", MUTANTS)
def test_a_changed_formula_fails_a_test(copy: Path, name: str) -> None:
    mutant = MUTANTS[name]
    file = copy / "midpoint" / mutant.file
    original = file.read_text(encoding="utf-8")
    assert original.count(mutant.before) == 1
    file.write_text(original.replace(mutant.before, mutant.after), encoding="utf-8")
    try:
        assert status_of(copy, mutant.tests) == 1  # tests failed; any other status is no verdict
    finally:
        file.write_text(original, encoding="utf-8")
