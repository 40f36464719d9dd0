import asyncio
import io
import json
import logging

from midpoint.analyst.service.logs import EVERY, JsonLines, Requests


def test_requests_are_written_together_one_object_a_line() -> None:
    stream = io.StringIO()

    async def serve() -> None:
        requests = Requests(stream)
        requests.add("POST", "/reports", 200, 0.0123)
        requests.add("GET", "/disclosure", 304, 0.001)
        assert stream.getvalue() == ""
        await asyncio.sleep(1.5 * EVERY)

    asyncio.run(serve())
    first, second = map(json.loads, stream.getvalue().splitlines())
    assert (first["route"], first["status"], first["milliseconds"]) == ("/reports", 200, 12.3)
    assert second["method"] == "GET"


def test_a_record_has_its_figures_and_no_arguments_of_its_own() -> None:
    record = logging.LogRecord("midpoint.service", logging.INFO, "", 0, "started", (), None)
    record.figures = {"workers": 2}
    line = json.loads(JsonLines().format(record))
    assert (line["event"], line["level"], line["workers"]) == ("started", "info", 2)
    assert "error" not in line
