"""Where a service is, in one spelling."""

from ipaddress import ip_address
from urllib.parse import urlsplit

import httpx

from midpoint.errors import MidpointError
from midpoint.wire import digest


def address_of(url: str, *, plain_http: bool = False) -> str:
    """Return the address without a slash at its end; refuse one that leaks or misleads.

    Over plain HTTP everyone on the way reads the pseudonym, so it is for this machine only, unless
    `plain_http` says that the way is safe.
    """
    try:
        parts = urlsplit(str(httpx.URL(url.strip())))
    except (httpx.InvalidURL, ValueError) as error:
        raise MidpointError(f"{url!r} is no address ({error}); write https://host") from error
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise MidpointError(f"{url!r} is no address of a service; write https://host")
    if parts.username is not None or parts.query or parts.fragment:
        raise MidpointError(f"{url!r} carries more than an address; write https://host[:port]")
    if parts.scheme == "http" and not plain_http and not _is_here(parts.hostname):
        raise MidpointError(
            f"{url!r} is not encrypted; use https, or on a safe network --plain-http, in Python"
            " plain_http=True"
        )
    return f"{parts.scheme}://{parts.netloc.lower()}{parts.path.rstrip('/')}"


def directory_name(address: str) -> str:
    """Return a name that a person recognizes and that no other address has."""
    netloc = urlsplit(address).netloc
    readable = "".join(c if (c.isascii() and c.isalnum()) or c in ".-" else "_" for c in netloc)
    return f"{readable[:80]}-{digest(address.encode())[:12]}"


def _is_here(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
