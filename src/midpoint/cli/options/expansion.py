"""Options that commands share, as one object that a command takes as one parameter."""

from collections.abc import Callable
from copy import copy
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Annotated, Any, get_args, get_type_hints

from typer.models import OptionInfo


def expand(command: Callable[..., None]) -> Callable[..., None]:
    """Replace each options object in a command's signature by the fields of the object.

    An options object is a parameter whose type is a dataclass; its fields are annotated as
    parameters of a command are. Typer sees the fields, the command gets the object. If the class
    has a `PANEL`, help shows its options under this heading, unless they have one of their own.
    """
    hints = get_type_hints(command, include_extras=True)
    objects: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
    parameters: list[Parameter] = []
    for name, parameter in signature(command).parameters.items():
        if name in objects:
            parameters += _fields(objects[name])
        else:
            parameters.append(_option(name, hints[name], parameter.default))

    @wraps(command)
    def expanded(**given: Any) -> None:
        for name, kind in objects.items():
            given[name] = kind(**{field.name: given.pop(field.name) for field in fields(kind)})
        command(**given)

    merged = Signature(parameters)  # which refuses a name that two objects have
    expanded.__signature__ = merged  # type: ignore[attr-defined]
    expanded.__annotations__ = {name: part.annotation for name, part in merged.parameters.items()}
    return expanded


def _fields(kind: Any) -> list[Parameter]:
    """Return the fields of an options object as parameters."""
    hints, panel = get_type_hints(kind, include_extras=True), getattr(kind, "PANEL", None)
    return [
        _option(
            field.name,
            hints[field.name] if panel is None else _in_panel(hints[field.name], panel),
            Parameter.empty if field.default is MISSING else field.default,
        )
        for field in fields(kind)
    ]


def _in_panel(annotation: Any, panel: str) -> Any:
    """Put an option that is under no heading under this one."""
    kind, *notes = get_args(annotation)
    for at, note in enumerate(notes):
        if isinstance(note, OptionInfo) and note.rich_help_panel is None:
            notes[at] = copy(note)
            notes[at].rich_help_panel = panel
    return Annotated[kind, *notes]


def _option(name: str, annotation: Any, default: Any) -> Parameter:
    """Return a parameter that may stand anywhere: by keyword, required ones too."""
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
