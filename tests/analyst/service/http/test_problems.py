"""Problems are one line."""

from hypothesis import given
from hypothesis import strategies as st

from midpoint.analyst.service.http.problems import STATUS, DeclinedError
from midpoint.wire import Problem


@given(st.sampled_from(sorted(STATUS)), st.text(max_size=700))
def test_whatever_a_request_said_a_problem_is_one_line(code: str, sentence: str) -> None:
    problem = DeclinedError(code, sentence).problem
    assert Problem.parse(problem.raw).code == code
    assert problem.message.isprintable()
