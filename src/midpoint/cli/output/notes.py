"""Notes and warnings of the library, on standard error."""

import logging

import typer


class Notes(logging.Handler):
    """Writes each note to whatever standard error is at the time."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write one line."""
        urgent = record.levelno >= logging.WARNING
        word = typer.style("warning:", fg="yellow", bold=True) if urgent else "note:"
        typer.echo(f"{word} {record.getMessage()}", err=True)


def show_notes() -> None:
    """Show notes and warnings of the library; a second call changes nothing."""
    logger = logging.getLogger("midpoint")
    if not any(isinstance(handler, Notes) for handler in logger.handlers):
        logger.addHandler(Notes())
        logger.setLevel(logging.INFO)
