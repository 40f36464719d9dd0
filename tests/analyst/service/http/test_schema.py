"""The interface as OpenAPI and the documentation describe it."""

from importlib import import_module
from pathlib import Path

import httpx
import pytest

from midpoint.analyst.service.http import schema as routes
from midpoint.wire import (
    Report,
)


def test_the_interface_is_described(client: httpx.Client) -> None:
    description = client.get("/openapi.json").json()
    assert set(description["paths"]) == {
        "/v1/catalogue",
        "/v1/catalogues/{digest}",
        "/v1/disclosure",
        "/v1/disclosures/{digest}",
        "/v1/disclosures/{digest}/certificates",
        "/v1/chain",
        "/v1/chain/head",
        "/v1/solicitation",
        "/v1/reports",
        "/v1/scores",
        "/v1/scores/{digest}",
        "/v1/pseudonym",
        "/v1/panel",
    }
    report = description["paths"]["/v1/reports"]["post"]
    schema = report["requestBody"]["content"]["application/json"]["schema"]
    assert set(schema["properties"]) == set(Report.model_fields)
    assert schema["additionalProperties"] is False
    assert {"200", "201", "400", "401", "409", "413", "415", "429", "503"} <= set(
        report["responses"]
    )


def test_the_page_about_the_interface_is_made_from_the_routes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    root = Path(__file__).parents[4]
    monkeypatch.syspath_prepend(str(root / "tools"))
    made = import_module("http_reference").page
    written = (root / "docs" / "reference" / "http.md").read_text(encoding="utf-8")
    assert made() == written, "run: make reference"
    assert "`POST /v1/reports`" in written
    # The control: a route more is a page that differs.
    monkeypatch.setitem(routes.TOKEN, "description", "something else")
    assert made() != written
