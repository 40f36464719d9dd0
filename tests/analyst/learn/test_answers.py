"""Answers by numbers say what the texts said."""

import polars as pl

from midpoint.analyst.learn.answers import Answers, indices_of
from midpoint.analyst.learn.reports import SCHEMA

ROWS = [
    ("zoe", "d2", "Heat", 4.0),
    ("ann", "d1", "Fargo", 2.0),
    ("zoe", "d1", "Fargo", 5.0),
    ("ann", "d2", "Alien", 1.0),
]


def test_numbers_stand_for_texts_in_the_order_of_their_first_appearance() -> None:
    answers = Answers.of(pl.DataFrame(ROWS, schema=SCHEMA, orient="row"))
    assert answers.person.tolist() == [0, 1, 0, 1]
    assert answers.disclosures == ["d2", "d1"]
    assert answers.items == ["Heat", "Fargo", "Alien"]
    said = [
        (answers.disclosures[d], answers.items[j], value)
        for d, j, value in zip(answers.disclosure, answers.item, answers.value, strict=True)
    ]
    assert said == [row[1:] for row in ROWS]


def test_numbers_do_not_depend_on_what_other_tables_held() -> None:
    whole = pl.DataFrame(ROWS, schema=SCHEMA, orient="row")
    Answers.of(whole.reverse())
    assert Answers.of(whole).items == ["Heat", "Fargo", "Alien"]


def test_no_answers_have_no_numbers() -> None:
    answers = Answers.of(pl.DataFrame(schema=SCHEMA))
    assert len(answers.person) == len(answers.item) == len(answers.items) == 0


def test_a_name_that_is_not_there_has_no_index() -> None:
    assert indices_of(["b", "x", "a"], ["a", "b"]).tolist() == [1, -1, 0]
    assert indices_of([], ["a"]).tolist() == []
