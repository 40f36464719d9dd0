"""Each library's model is known by what it holds; what cannot be meant is refused."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from midpoint.analyst.fit.given.sources import read_factors
from midpoint.errors import MidpointError

VECTORS = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]])
BIASES = np.array([0.1, -0.2, 0.3])
NAMES = ["a", "b", "c"]


class Held:
    """Stands for a library's object: attributes only."""

    def __init__(self, **held: Any) -> None:
        self.__dict__.update(held)


def lenskit(*, biased: bool = True) -> Held:
    """As LensKit's BiasedMFScorer and ImplicitMFScorer hold them."""
    more = {"bias": SimpleNamespace(item_biases=BIASES, global_bias=3.5)} if biased else {}
    items = SimpleNamespace(ids=lambda: np.array(NAMES))
    return Held(item_embeddings=VECTORS.astype(np.float32), items=items, **more)


def cornac(**more: Any) -> Held:
    """As Cornac's models do, the names in another order than the rows."""
    return Held(iid_map={"c": 2, "a": 0, "b": 1}, **more)


def spark() -> Held:
    """As Spark's ALSModel: a frame of rows."""
    rows = [{"id": n, "features": list(map(float, VECTORS[n]))} for n in (2, 0, 1)]
    return Held(itemFactors=SimpleNamespace(collect=lambda: rows))


def on_a_card() -> Held:
    """As implicit holds them on a graphics card."""
    return Held(item_factors=SimpleNamespace(to_numpy=lambda: VECTORS))


@pytest.mark.parametrize(
    ("model", "item_ids", "biased"),
    [
        (lenskit, None, True),
        (lambda: lenskit(biased=False), None, False),
        (lambda: cornac(i_factors=VECTORS, i_biases=BIASES), None, True),
        (lambda: cornac(V=VECTORS, i_factors=None), None, False),
        (spark, {0: "a", 1: "b", 2: "c"}, False),
        (lambda: Held(item_factors=VECTORS), NAMES, False),
        (on_a_card, {0: "a", 1: "b", 2: "c"}, False),
        (lambda: VECTORS, NAMES, False),
        (VECTORS.tolist, np.array(NAMES), False),
    ],
    ids=["lenskit", "lenskit-implicit", "cornac", "cornac-pmf", "spark", "implicit", "implicit-gpu",
         "array", "lists"],
)  # fmt: skip
def test_a_model_is_read(model: Callable[[], object], item_ids: Any, *, biased: bool) -> None:
    read = read_factors(model(), item_ids)
    assert read.item_ids.tolist() == NAMES
    assert np.array_equal(read.vectors, VECTORS)
    assert (read.biases is not None) == biased
    if read.biases is not None:
        assert np.array_equal(read.biases, BIASES)


def test_numbers_are_the_names_where_the_ratings_number_items() -> None:
    assert read_factors(spark()).item_ids.tolist() == ["0", "1", "2"]
    assert read_factors(VECTORS, [10.0, 11, "12"]).item_ids.tolist() == ["10", "11", "12"]


def test_files_are_read(tmp_path: Path) -> None:
    arrays, table = tmp_path / "items.npz", tmp_path / "items.csv"
    np.savez(arrays, item_ids=np.array(NAMES), vectors=VECTORS, biases=BIASES)
    rows = zip(VECTORS.tolist(), NAMES, BIASES.tolist(), strict=True)
    lines = [f"{v[0]},{name},{v[1]},{bias}" for v, name, bias in rows]
    table.write_text("\n".join(["f0,item,f1,bias", *lines]) + "\n")
    for path in (arrays, table, str(table)):
        read = read_factors(path)
        assert read.item_ids.tolist() == NAMES
        assert np.array_equal(read.vectors, VECTORS)
        assert read.biases is not None
        assert read.biases == pytest.approx(BIASES)
        assert read.source == str(path)


BAD: list[tuple[Any, Any, Any, str]] = [
    (VECTORS, None, None, "only numbers its items; give item_ids"),
    (VECTORS, ["a", "b"], None, "2 item_ids for 3 rows"),
    (VECTORS, ["a", "b", "a"], None, "item a has two rows"),
    (VECTORS, {"0": "a", "1": "b"}, None, "does not say what item '2' is called"),
    (VECTORS, NAMES, [1.0], r"biases of arrays have shape \(1,\) for 3 items"),
    (VECTORS[:, :0], NAMES, None, r"shape \(3, 0\)"),
    (VECTORS[0], NAMES[:2], None, r"shape \(2,\)"),
    (np.where(VECTORS > 6, np.nan, VECTORS), NAMES, None, "item c are not finite"),
    (VECTORS, NAMES, [0.0, np.inf, 0.0], "item b are not finite"),
    ([["x"]], ["a"], None, "no table of numbers"),
    (Held(item_factors=None), NAMES, None, "or was not fitted yet"),
    (object(), NAMES, None, "holds no item factors that are known here"),
    ("missing.npz", None, None, "is not a file"),
]


@pytest.mark.parametrize(("source", "item_ids", "biases", "message"), BAD)
def test_what_cannot_be_meant_is_refused(
    source: Any, item_ids: Any, biases: Any, message: str
) -> None:
    with pytest.raises(MidpointError, match=message):
        read_factors(source, item_ids, biases)


def test_files_that_hold_something_else_are_refused(tmp_path: Path) -> None:
    other, pickled, words = tmp_path / "o.npz", tmp_path / "p.npz", tmp_path / "w.csv"
    np.savez(other, weights=VECTORS)
    np.savez(pickled, vectors=np.array([{}], dtype=object))
    words.write_text("item,f0,genre\na,1.0,drama\nb,2.0,crime\n")
    for path, message in (
        (other, "holds weights; save it by"),
        (pickled, "holds no arrays of numbers"),
        (words, "column 'genre' holds no numbers"),
    ):
        with pytest.raises(MidpointError, match=message):
            read_factors(path)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:OpenBLAS is configured")
def test_implicit_itself_is_read() -> None:
    library = pytest.importorskip("implicit")
    sparse = pytest.importorskip("scipy.sparse")
    model = library.als.AlternatingLeastSquares(factors=2, iterations=1, random_state=0)
    model.fit(sparse.csr_matrix(np.eye(3)), show_progress=False)
    assert read_factors(model, NAMES).vectors.shape == (3, 2)


@pytest.mark.slow
def test_cornac_itself_is_read() -> None:
    cornac_library = pytest.importorskip("cornac")
    data = cornac_library.data.Dataset.from_uir([("u", "a", 4.0), ("v", "b", 2.0), ("u", "c", 5.0)])
    model = cornac_library.models.MF(k=2, max_iter=1, seed=1).fit(data)
    read = read_factors(model)
    assert sorted(read.item_ids.tolist()) == NAMES
    assert read.biases is not None
