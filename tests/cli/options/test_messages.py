"""A message that cannot be read is named by its file; a model discloses as it was trained."""

from pathlib import Path

import pytest

from midpoint.analyst import disclose
from midpoint.cli.options.messages import Estimator, ModelOptions, read_message
from midpoint.errors import MidpointError
from midpoint.wire import Disclosure, Report
from tests.support.models.small_model import trained
from tests.support.sites.messages import REPORT


def test_a_message_is_read_and_what_is_wrong_is_named_by_file(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    with pytest.raises(MidpointError, match=r"r\.json cannot be read .*check the path"):
        read_message(path, Report)
    path.write_bytes(REPORT.raw)
    assert read_message(path, Report) == REPORT
    with pytest.raises(MidpointError, match=r"r\.json holds no valid disclosure message: Disc"):
        read_message(path, Disclosure)


def test_reports_are_read_by_the_disclosure_named_or_the_models_own(tmp_path: Path) -> None:
    model = trained()
    own = ModelOptions(model=model.directory)
    profiles, disclosure = own.load()
    assert disclosure == disclose(profiles)
    other = disclose(profiles, "mp")
    (tmp_path / "d.json").write_bytes(other.raw)
    named = ModelOptions(
        model=model.directory,
        disclosure=tmp_path / "d.json",
        estimator=Estimator.least_squares,
    )
    assert named.disclosed(profiles) == other
    assert (named.scorer().digest, named.scorer().estimator) == (other.digest, "least-squares")
