import hashlib
import io
import json
import pickle
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from midpoint.analyst import Factorizer, ItemProfiles, Training
from midpoint.analyst.fit.profile_files import FORMAT, MANIFEST
from midpoint.data import Simulation, SimulationConfig, simulate
from midpoint.data.simulation import SimulatedFeature
from midpoint.errors import MidpointError


@pytest.fixture
def saved(trained_stars: Training, tmp_path: Path) -> Path:
    path = tmp_path / "model"
    trained_stars.items.save(path)
    return path


def require_equal(one: Any, other: Any) -> None:
    """Compare field by field, arrays bit by bit."""
    for field in fields(one):
        a, b = getattr(one, field.name), getattr(other, field.name)
        if isinstance(a, np.ndarray):
            assert a.dtype == b.dtype, field.name
            assert a.shape == b.shape, field.name
            assert a.tobytes() == b.tobytes(), field.name
        elif field.name == "statistics" and a is not None:
            require_equal(a, b)
        else:
            assert a == b, field.name


def edit(path: Path, change: dict[str, Any]) -> None:
    """Change the manifest, with a digest that fits again."""
    manifest = json.loads((path / MANIFEST).read_text())
    del manifest["digest"]
    manifest |= change
    content = json.dumps(manifest, sort_keys=True).encode()
    manifest["digest"] = hashlib.sha256(content).hexdigest()
    (path / MANIFEST).write_text(json.dumps(manifest))


@pytest.mark.parametrize("kind", ["stars", "continuous", "no feature", "crossed"])
def test_what_is_loaded_is_what_was_saved(kind: str, stars: Simulation, tmp_path: Path) -> None:
    two = (SimulatedFeature("a", ("x", "y")), SimulatedFeature("b", ("p", "q", "r")))
    made = {
        "stars": lambda: Factorizer(dimension=2).fit(stars.ratings, "gender"),
        "continuous": lambda: Factorizer(dimension=2, regularization=0.06).fit(
            simulate(SimulationConfig(users=60, items=20)).ratings, "gender"
        ),
        "no feature": lambda: Factorizer(dimension=2, method="sgd").fit(stars.ratings),
        "crossed": lambda: Factorizer(dimension=2).fit(
            simulate(SimulationConfig(users=60, items=20, features=two)).ratings, ["a", "b"]
        ),
    }[kind]()
    made.save(tmp_path / "deep" / "model")
    found = ItemProfiles.load(str(tmp_path / "deep" / "model"))
    require_equal(made, found)
    assert found.categories == made.categories
    with pytest.raises(AssertionError):
        require_equal(found, replace(found, vectors=np.nextafter(found.vectors, np.float32(9))))


def test_loaded_arrays_cannot_be_written(saved: Path) -> None:
    with pytest.raises(ValueError, match="read-only"):
        ItemProfiles.load(saved).vectors[0] = 0


def test_a_save_replaces_the_whole_directory_or_nothing(
    saved: Path, trained: Training, trained_stars: Training, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError("no space left")

    with monkeypatch.context() as patch:
        patch.setattr(np, "save", fail)
        with pytest.raises(OSError, match="no space"):
            trained.items.save(saved)
    require_equal(trained_stars.items, ItemProfiles.load(saved))
    assert [path.name for path in saved.parent.iterdir()] == ["model"]
    assert (saved / "level_count.npy").exists()
    trained.items.save(saved)
    require_equal(trained.items, ItemProfiles.load(saved))
    assert not (saved / "level_count.npy").exists()  # nothing of the old one is left
    assert [path.name for path in saved.parent.iterdir()] == ["model"]


def test_what_is_not_ours_is_never_replaced(
    trained: Training, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    thesis = tmp_path / "work" / "thesis.txt"
    thesis.parent.mkdir()
    thesis.write_text("years of it")
    monkeypatch.chdir(thesis.parent)
    for directory in (thesis.parent, thesis, Path()):
        with pytest.raises(MidpointError, match="name a new directory"):
            trained.items.save(directory)
    assert thesis.read_text() == "years of it"
    (tmp_path / "empty").mkdir()
    trained.items.save(tmp_path / "empty")
    assert ItemProfiles.load(tmp_path / "empty").n_items == trained.items.n_items


def test_a_missing_model_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(MidpointError, match="midpoint train SOURCE --out"):
        ItemProfiles.load(tmp_path / "nowhere")
    with pytest.raises(MidpointError, match="holds no item profiles"):
        ItemProfiles.load(tmp_path)


def truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def flipped(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(bytes(content))


@pytest.mark.parametrize("damage", [truncated, flipped])
@pytest.mark.parametrize("name", ["vectors", "item_ids", "level_count", "profile_covariance"])
def test_a_damaged_array_is_refused(saved: Path, name: str, damage: Any) -> None:
    damage(saved / f"{name}.npy")
    with pytest.raises(MidpointError, match=rf"{name}\.npy is damaged"):
        ItemProfiles.load(saved)


def test_a_missing_array_is_refused(saved: Path) -> None:
    (saved / "centre.npy").unlink()
    with pytest.raises(MidpointError, match=r"centre\.npy cannot be read"):
        ItemProfiles.load(saved)


def test_another_version_is_refused(saved: Path) -> None:
    edit(saved, {})
    ItemProfiles.load(saved)
    edit(saved, {"format": FORMAT + 1})
    with pytest.raises(MidpointError, match=f"has format {FORMAT + 1}, this version reads"):
        ItemProfiles.load(saved)


def test_an_edited_manifest_is_refused(saved: Path) -> None:
    manifest = json.loads((saved / MANIFEST).read_text())
    (saved / MANIFEST).write_text(json.dumps(manifest))
    ItemProfiles.load(saved)  # blanks and line breaks are no change
    manifest["noise_variance"] *= 2
    (saved / MANIFEST).write_text(json.dumps(manifest))
    with pytest.raises(MidpointError, match="changed by hand"):
        ItemProfiles.load(saved)


@pytest.mark.parametrize("content", ["{", "", "[1]", "null", "\udcff"])
def test_what_is_not_a_manifest_is_refused(saved: Path, content: str) -> None:
    (saved / MANIFEST).write_bytes(content.encode(errors="surrogateescape"))
    with pytest.raises(MidpointError, match="train the model again"):
        ItemProfiles.load(saved)


@pytest.mark.parametrize(
    "change",
    [
        {"arrays": {}},
        {"arrays": None},
        {"features": [["gender"]]},
        {"features": 3},
        {"scale": {"low": 1}},
        {"noise_variance": "much"},
        {"provenance": {"more": 1}},
    ],
)
def test_a_manifest_of_another_shape_is_refused(saved: Path, change: dict[str, Any]) -> None:
    edit(saved, change)
    with pytest.raises(MidpointError, match="is damaged"):
        ItemProfiles.load(saved)


class Bomb:
    """Goes off when it is unpickled."""

    exploded = False

    def __reduce__(self) -> tuple[Any, ...]:
        return setattr, (Bomb, "exploded", True)


def bombs() -> dict[str, bytes]:
    stream = io.BytesIO()
    np.save(stream, np.array([Bomb()], dtype=object), allow_pickle=True)
    return {"array": stream.getvalue(), "pickle": pickle.dumps(Bomb()), "empty": b""}


@pytest.mark.parametrize("kind", bombs())
def test_nothing_is_executed(saved: Path, kind: str) -> None:
    content = bombs()[kind]
    (saved / "centre.npy").write_bytes(content)
    arrays = json.loads((saved / MANIFEST).read_text())["arrays"]
    edit(saved, {"arrays": arrays | {"centre": hashlib.sha256(content).hexdigest()}})
    Bomb.exploded = False
    with pytest.raises(MidpointError, match=r"centre\.npy is no array"):
        ItemProfiles.load(saved)
    assert not Bomb.exploded
    np.load(io.BytesIO(bombs()["array"]), allow_pickle=True)
    assert Bomb.exploded


def test_items_are_found_by_name(trained: Training) -> None:
    items = trained.items
    some = np.array([5, 0, 79, 5])
    assert items.index_of(items.item_ids[some]).tolist() == some.tolist()
    assert items.index_of(np.array([], dtype=np.str_)).tolist() == []
    for unknown in ("", "zzzz", "0001 "):
        with pytest.raises(MidpointError, match="is not among the profiles"):
            items.index_of(np.array([items.item_ids[0], unknown]))
