"""The page: static files that were built into the package, and the headers that confine them."""

import mimetypes
from pathlib import Path

from midpoint.analyst.service.http.documents import IMMUTABLE, Document
from midpoint.wire import digest
from midpoint.wire.canonical import encode

DIRECTORY = Path(__file__).parent / "page"
INDEX = "index.html"
NOT_BUILT = "The page is not built here. Build it with: make page"
KINDS = {".js": "text/javascript", ".css": "text/css", ".html": "text/html"}
"""Where the system's own table of media types may differ."""


class Page:
    """All files of the page in memory, compressed once."""

    def __init__(self, directory: Path = DIRECTORY) -> None:
        self._files = {
            path.relative_to(directory).as_posix(): path.read_bytes()
            for path in sorted(directory.rglob("*"))
            if path.is_file() and not path.name.startswith(".")
        }
        self._documents = {name: _document(name, raw) for name, raw in self._files.items()}

    def file(self, name: str) -> Document | None:
        """Return a file by its name inside the directory."""
        return self._documents.get(name)

    @property
    def listed(self) -> Document:
        """The list of all files with their SHA-256, for anyone who compares."""
        files = {name: digest(raw) for name, raw in self._files.items()}
        return Document.of(encode({"files": files, "version": 1}))


def security_headers(witnesses: tuple[str, ...]) -> list[tuple[bytes, bytes]]:
    """Return what every response says: run our own files only, and tell nobody who asked."""
    connect = " ".join(("'self'", *witnesses))
    policy = (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
        f" connect-src {connect}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    headers = {
        "content-security-policy": policy,
        "cross-origin-opener-policy": "same-origin",
        "permissions-policy": "camera=(), geolocation=(), microphone=()",
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
    }
    return [(name.encode(), value.encode()) for name, value in headers.items()]


def _document(name: str, raw: bytes) -> Document:
    kind = KINDS.get(Path(name).suffix) or mimetypes.guess_type(name)[0]
    if name.startswith("assets/"):  # named by their content
        return Document.of(raw, media=kind or "application/octet-stream", cache=IMMUTABLE)
    return Document.of(raw, media=kind or "application/octet-stream")
