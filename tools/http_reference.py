"""Write docs/reference/http.md from the routes of the service: `make reference`."""

import ast
import inspect
import textwrap
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from midpoint.analyst.service.http.problems import MEANING, STATUS
from midpoint.analyst.service.http.routes import Service
from midpoint.analyst.service.http.schema import Route, described
from midpoint.wire import Message, Problem

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "http.md"
LARGEST = 2**53 - 1
HEAD = (
    "# HTTP interface\n\nEverything that can be asked of `midpoint serve`. This page is made from"
    " the routes themselves, by `make reference`; a running service describes itself at"
    " `/openapi.json` (OpenAPI), for programs that make clients.\n\nBodies are JSON of the messages"
    " below. What a client sends is in the [canonical form](wire.md). Ratings are integers, in"
    " fixed point. An answer to a request with a token is for one pseudonym, and caches must not"
    " keep it. All other answers are the same for everyone. `HEAD` is answered wherever `GET` is.\n"
)
DECLINED = (
    "\n## When a request is declined\n\nThe body is a `Problem`, whose `code` programs may rely on."
    " With 429 and 503 the header `Retry-After` says when to try again.\n\n"
)


def page() -> str:
    """Return the page."""
    # Routes are bound methods, and only their names are looked at: no service is started.
    routes = list(described(object.__new__(Service)))
    return "\n".join([HEAD, *_all(routes), ""])


def _all(routes: list[Route]) -> Iterator[str]:
    interface = [route for route in routes if route.shown]
    yield "| route | what it is |\n|---|---|"
    yield from (f"| `{route.method} {route.path}` | {_what(route)} |" for route in interface)
    for route in interface:
        yield from _route(route)
    yield "\n## For operators and the page\n\n| route | what it is |\n|---|---|"
    yield from (
        f"| `{route.method} {route.path}` | {_what(route)} |" for route in routes if not route.shown
    )
    yield "| `GET /openapi.json` | All routes, as OpenAPI describes them. |"
    yield f"{DECLINED}| code | status | what it says |\n|---|---|---|"
    yield from (f"| `{code}` | {status} | {MEANING[code]} |" for code, status in STATUS.items())
    kinds = {kind for route in interface for kind in (route.answer, route.body) if kind} | {Problem}
    yield "\n## Messages"
    for kind in sorted(kinds, key=lambda kind: kind.__name__):
        yield from _message(kind)


def _route(route: Route) -> Iterator[str]:
    yield f"\n## {route.method} {route.path}\n\n{_what(route)}\n\n| part | what it is |\n|---|---|"
    for parameter in route.parameters:
        need = "" if parameter["required"] else ", optional"
        said = parameter.get("description") or _kind(parameter["schema"])
        yield f"| {parameter['in']} `{parameter['name']}`{need} | {_cell(said)} |"
    if route.body is not None:
        yield f"| body | [{route.body.__name__}](#{route.body.__name__.lower()}) |"
    for status, response in sorted(route.responses.items(), key=lambda row: int(row[0])):
        if route.answer is not None and int(status) in (200, 201):
            name = route.answer.__name__
            said = response["description"].rstrip(".")
            yield f"| {status} | {said}: [{name}](#{name.lower()}) |"
        else:
            yield f"| {status} | {response['description'].rstrip('.')} |"


def _message(kind: type[Message]) -> Iterator[str]:
    schema, said = kind.model_json_schema(), _fields(kind)
    yield f"\n### {kind.__name__}\n\n{_line(kind.__doc__)}\n"
    yield "| field | kind | what it is |\n|---|---|---|"
    for name, field in schema["properties"].items():
        need = "" if name in schema.get("required", ()) or name == "version" else ", optional"
        what = "Version of the form: 1." if name == "version" else said.get(name, "")
        yield f"| `{name}` | {_cell(_kind(field))}{need} | {_cell(what)} |"


def _fields(kind: type[Message]) -> dict[str, str]:
    """Return what the source says under each field."""
    said: dict[str, str] = {}
    for parent in reversed(kind.__mro__):
        if not (issubclass(parent, Message) and parent is not Message):
            continue
        tree = ast.parse(textwrap.dedent(inspect.getsource(parent))).body[0]
        lines = getattr(tree, "body", [])
        for field, text in pairwise(lines):
            if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
                written = getattr(getattr(text, "value", None), "value", None)
                said[field.target.id] = _line(written) if isinstance(written, str) else ""
    return said


def _kind(schema: dict[str, Any]) -> str:
    """Say in a few words what a value is."""
    if "anyOf" in schema:
        return " or ".join(_kind(part) for part in schema["anyOf"] if part.get("type") != "null")
    if "$ref" in schema:
        return f"`{schema['$ref'].rpartition('/')[2]}`"
    kind = schema.get("type", "value")
    if kind == "array":
        inner = schema.get("prefixItems")
        return f"[{', '.join(map(_kind, inner))}]" if inner else f"list of {_kind(schema['items'])}"
    if kind == "integer" and "minimum" in schema and schema.get("maximum", LARGEST) < LARGEST:
        return f"integer, {schema['minimum']} to {schema['maximum']}"
    pattern = f" `{schema['pattern']}`" if "pattern" in schema else ""
    return f"{'text' if kind == 'string' else kind}{pattern}"


def _what(route: Route) -> str:
    return _cell(_line(route.handler.__doc__))


def _line(text: str | None) -> str:
    return " ".join((text or "").split("\n\n")[0].split())


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
