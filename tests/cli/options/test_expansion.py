from dataclasses import dataclass
from typing import Annotated, ClassVar

import pytest
import typer
from typer.testing import CliRunner

from midpoint.cli.options.expansion import expand


@dataclass(frozen=True, kw_only=True)
class Shape:
    """Options that commands share."""

    name: Annotated[str, typer.Argument(help="What it is called.")]
    width: Annotated[int, typer.Option(min=1, help="How wide.", rich_help_panel="Size")] = 3
    flat: Annotated[bool, typer.Option("--flat", help="Without height.")] = False

    def area(self) -> int:
        return 0 if self.flat else self.width**2


@dataclass(frozen=True, kw_only=True)
class Square(Shape):
    """The same, with another help text."""

    name: Annotated[str, typer.Argument(help="What the square is called.")]


def made(seen: list[tuple[Shape, int]]) -> typer.Typer:
    app = typer.Typer()

    @app.command()
    @expand
    def draw(*, shape: Square, times: Annotated[int, typer.Option(help="How often.")] = 1) -> None:
        """Draw a shape."""
        seen.append((shape, times))

    return app


def test_a_command_gets_one_object_of_what_was_typed() -> None:
    seen: list[tuple[Shape, int]] = []
    result = CliRunner().invoke(made(seen), ["box", "--width", "5", "--times", "2"])
    assert result.exit_code == 0, result.output
    assert seen == [(Square(name="box", width=5), 2)]
    assert seen[0][0].area() == 25
    CliRunner().invoke(made(seen), ["box", "--flat"])
    assert seen[1] == (Square(name="box", flat=True), 1)


def test_a_class_has_a_heading_for_options_without_one() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Drawn(Shape):
        PANEL: ClassVar = "Drawing"

    app, plain = typer.Typer(), CliRunner().invoke(made([]), ["--help"]).output

    @app.command()
    @expand
    def draw(*, shape: Drawn) -> None:
        """Draw a shape."""

    shown = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "100"}).output
    size, drawing = shown.index("─ Size ─"), shown.index("─ Drawing ─")
    assert size < shown.index("--width")
    assert drawing < shown.index("--flat")
    assert "Drawing" not in plain
    assert "Drawing" not in CliRunner().invoke(made([]), ["--help"]).output  # nothing is shared


def test_fields_are_checked_and_described_as_other_options_are() -> None:
    app = made([])
    shown = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "100"}).output
    assert "Draw a shape." in shown
    for text in ("What the square is called.", "How wide.", "[default: 3]", "─ Size ─", "--flat"):
        assert text in shown
    assert CliRunner().invoke(app, ["box", "--width", "0"]).exit_code == 2
    assert CliRunner().invoke(app, []).exit_code == 2


def test_two_objects_with_the_same_option_are_refused() -> None:
    def draw(*, first: Shape, second: Square) -> None:
        pytest.fail(f"{first} and {second} were both taken")

    with pytest.raises(ValueError, match="duplicate parameter name"):
        expand(draw)
