from pathlib import Path

import numpy as np

from midpoint.analyst.counterparts.checkpoint import Checkpoint


def test_what_was_saved_is_there_for_the_same_purpose_only(tmp_path: Path) -> None:
    one = Checkpoint(tmp_path / "kept", "one")
    assert one.load("sums") is None
    one.save("sums", total=np.arange(3.0), done=np.array(2))
    found = Checkpoint(tmp_path / "kept", "one").load("sums")
    assert found is not None
    assert found.keys() == {"total", "done"}
    assert found["total"].tolist() == [0, 1, 2]
    assert Checkpoint(tmp_path / "kept", "another").load("sums") is None
    assert one.load("others") is None


def test_a_damaged_one_counts_for_nothing(tmp_path: Path) -> None:
    kept = Checkpoint(tmp_path, "one")
    kept.save("sums", total=np.arange(3.0))
    whole = (tmp_path / "sums.npz").read_bytes()
    for content in (b"", b"no archive", whole[: len(whole) // 2]):
        (tmp_path / "sums.npz").write_bytes(content)
        assert kept.load("sums") is None
    (tmp_path / "sums.npz").write_bytes(whole)
    assert kept.load("sums") is not None


def test_without_a_directory_nothing_is_kept() -> None:
    Checkpoint().save("sums", total=np.arange(3.0))
    assert Checkpoint().load("sums") is None
