"""The names of the package: few, lazy, and helpful where an extra is missing."""

import subprocess
import sys
from importlib import import_module

import pytest

import midpoint as mp
from midpoint.extras import EXTRAS

NAMES = {"Analyst", "Device", "__version__", "audit", "load", "obfuscate"}

QUICK_AUDIT = 'audit(midpoint.load("simulated-tiny"), "gender", attacks="lr", folds=2)'
MISSING = """
import sys
for name in {missing!r}:
    sys.modules[name] = None
import midpoint
try:
    midpoint.{use}
except ModuleNotFoundError as error:
    print(error)
"""


def test_the_package_lists_its_names_and_no_others() -> None:
    assert {*mp.__all__} == {*dir(mp)} == NAMES
    assert all(getattr(mp, name) is not None for name in NAMES)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        mp.nonsense  # type: ignore[attr-defined] # noqa: B018


def test_audit_is_a_package_and_a_function_whichever_comes_first() -> None:
    package = import_module("midpoint.audit")
    assert vars(mp)["audit"] is package
    with pytest.raises(TypeError, match=r"audit\(\) missing 2 required"):
        mp.audit()  # type: ignore[call-arg]


@pytest.mark.slow
def test_a_bare_import_is_light() -> None:
    script = "import sys, midpoint; print(sorted(m for m in sys.modules if m not in {!r}))"
    before = "import sys; print(sorted(sys.modules))"
    bare = subprocess.run(
        [sys.executable, "-c", before], capture_output=True, text=True, check=True
    )
    command = [sys.executable, "-c", script.format(eval(bare.stdout))]  # noqa: S307 - our own
    loaded = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert {*eval(loaded)} <= {  # noqa: S307 - our own
        "midpoint", "midpoint.extras", "importlib", "warnings", "importlib._bootstrap",
        "importlib._bootstrap_external",
    }  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("use", "missing", "extra"),
    [
        ("Analyst", "numba", "analyst"),
        ("obfuscate", "scipy", "analyst"),
        ("audit", "scipy", "analyst"),
        (QUICK_AUDIT, "sklearn", "audit"),
    ],
)
def test_a_missing_extra_is_named(use: str, missing: str, extra: str) -> None:
    script = MISSING.format(missing=[missing], use=use)
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    name = use.partition("(")[0]
    install = (
        f"install it with: pip install 'midpoint[{extra}]', in a clone of the repository: pip"
        f" install '.[{extra}]'"
    )
    assert out.stdout == f"midpoint.{name}: this needs {missing}; {install}\n"


@pytest.mark.slow
def test_the_device_needs_no_extra() -> None:
    script = MISSING.format(missing=sorted(EXTRAS), use="Device")
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert out.stdout == ""
