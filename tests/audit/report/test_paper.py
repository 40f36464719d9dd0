from midpoint.audit.report.paper import PAPER, paper_numbers


def test_the_papers_numbers_are_all_there() -> None:
    assert len(PAPER) == 5
    assert {len(schemes) for schemes in PAPER.values()} == {10}
    for schemes in PAPER.values():
        for found in schemes.values():
            assert all(0.5 <= one <= 1 for one in found[:4] if one is not None)
    assert PAPER["movielens-1m", "gender"]["no"].lr == 0.841
    assert PAPER["flixster", "gender"]["no"].svm is None
    like = paper_numbers("movielens-100k", "gender")
    assert like is not None
    assert like[0] == "movielens-1m, gender"
    assert paper_numbers("young-people", "gender") is None
