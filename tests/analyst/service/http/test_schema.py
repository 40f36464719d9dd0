"""The interface as OpenAPI describes it."""

import httpx

from midpoint.wire import (
    Report,
)


def test_the_interface_is_described(client: httpx.Client) -> None:
    description = client.get("/v1/openapi.json").json()
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
    }
    report = description["paths"]["/v1/reports"]["post"]
    schema = report["requestBody"]["content"]["application/json"]["schema"]
    assert set(schema["properties"]) == set(Report.model_fields)
    assert schema["additionalProperties"] is False
    assert {"200", "201", "400", "401", "409", "413", "415", "429", "503"} <= set(
        report["responses"]
    )
