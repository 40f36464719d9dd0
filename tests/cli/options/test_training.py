"""The options of the fit are those of the factorizer, with its defaults."""

import pytest

from midpoint.analyst import Factorizer
from midpoint.cli.options.engines import EngineName
from midpoint.cli.options.training import Biases, EngineOptions, FitOptions, Method
from midpoint.errors import MidpointError


def test_without_options_it_is_the_librarys_factorizer() -> None:
    assert FitOptions().factorizer(0, None) == Factorizer()


def test_options_reach_the_factorizer() -> None:
    options = FitOptions(
        dimension=3, iterations=4, regularization="0.1", biases=Biases.plain, method=Method.sgd
    )
    assert options.factorizer(5, 2) == Factorizer(
        dimension=3,
        iterations=4,
        regularization=0.1,
        biases="plain",
        method="sgd",
        seed=5,
        threads=2,
    )
    with pytest.raises(MidpointError, match="--regularization some: write `learned`, or a number"):
        FitOptions(regularization="some").factorizer(0, None)


def test_an_engine_is_not_given_what_it_would_ignore() -> None:
    EngineOptions(engine=EngineName.spark, master="spark://host:7077").check()
    EngineOptions(engine=EngineName.stream, threads=2).check()
    with pytest.raises(MidpointError, match="add --engine spark"):
        EngineOptions(master="spark://host:7077").check()
