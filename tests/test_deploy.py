"""What is in deploy/: the script installs and starts a service, and the recipes run that script."""

import re
import signal
import subprocess
import sys
import sysconfig
import time
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml  # type: ignore[import-untyped]

from midpoint.analyst.service.http.http_limits import MOST_CONNECTIONS, SLOWEST_HEAD
from midpoint.analyst.service.settings import Settings
from midpoint.cli.options.service import ListenOptions, ServiceOptions
from tests.support.models.small_model import run, trained

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "deploy"
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
RECIPE = (DEPLOY / "Containerfile").read_text("utf-8")
PROXY = (DEPLOY / "nginx.conf").read_text("utf-8")


def libraries(directory: Path) -> Path:
    """Show the libraries of this environment without Midpoint, as an index would offer them."""
    directory.mkdir()
    for path in Path(sysconfig.get_path("purelib")).iterdir():
        if not re.match(r"_*(editable__+)?midpoint", path.name):
            (directory / path.name).symlink_to(path)
    return directory


def installed(tmp_path: Path) -> Path:
    """Run the script, offline: the versions that it wants are at hand, or it fails."""
    prefix = tmp_path / "midpoint"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", prefix], check=True)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    packages = prefix / "lib" / version / "site-packages"
    (packages / "libraries.pth").write_text(str(libraries(tmp_path / "libraries")))
    subprocess.run(
        ["sh", DEPLOY / "install.sh", prefix],
        check=True,
        env={"PATH": "/usr/bin:/bin", "PYTHON": sys.executable, "PIP_NO_INDEX": "1"},
    )
    return prefix


@pytest.mark.slow
def test_the_script_installs_and_what_it_installed_starts_answers_and_stops(tmp_path: Path) -> None:
    prefix, site, log = installed(tmp_path), tmp_path / "site", tmp_path / "log"
    run("publish", trained().directory, site)
    unit = (prefix / "midpoint.service").read_text("utf-8")
    assert "/opt/midpoint" not in unit
    command = re.findall(r"^ExecStart=(.*)$", unit, re.MULTILINE)[0].split()
    assert command[1] == "/srv/midpoint/site"
    with log.open("wb") as stream:
        process = subprocess.Popen(
            [command[0], site],
            stderr=stream,
            cwd=tmp_path,
            env={"PATH": "/usr/bin:/bin", "MIDPOINT_PORT": "0", "COLUMNS": "300"},
        )
    try:
        url = ""
        for _ in range(1200):
            text = log.read_text()
            url = "".join(re.findall(r" at (http\S+)", text))
            if "startup complete" in text or process.poll() is not None:
                break
            time.sleep(0.05)
        assert url, log.read_text()
        with httpx.Client(base_url=url, timeout=60) as client:
            assert client.get("/health/ready").json()["status"] == "ready"
            assert client.get("/openapi.json").json()["info"]["title"] == "Midpoint"
    finally:
        process.send_signal(signal.SIGTERM)
        status = process.wait(60)
    assert status == 0
    assert re.search(r"^ok +chain", log.read_text(), re.MULTILINE)
    # The control: it does not start what `midpoint doctor` finds a fault with.
    site.chmod(0o777)
    refused = subprocess.run([command[0], site], capture_output=True, text=True, check=False)
    assert refused.returncode == 1
    assert "fault  permissions" in refused.stderr


def test_a_password_comes_from_a_file_and_options_go_on(tmp_path: Path) -> None:
    (tmp_path / "start").write_bytes((DEPLOY / "start.sh").read_bytes())
    (tmp_path / "midpoint").write_text('#!/bin/sh\necho "$PGPASSWORD: $*"\n')
    (tmp_path / "midpoint").chmod(0o755)
    (tmp_path / "password").write_text("sesame\n")
    settings = {
        "PATH": "/usr/bin:/bin",
        "MIDPOINT_DATABASE_PASSWORD_FILE": str(tmp_path / "password"),
    }
    shown = subprocess.run(
        ["sh", tmp_path / "start", "/site", "--ask", "3"],
        env=settings,
        capture_output=True,
        text=True,
        check=True,
    )
    assert shown.stderr == "sesame: doctor /site\n"
    assert shown.stdout == "sesame: serve /site --ask 3\n"


def test_the_container_is_made_by_the_script_from_files_that_there_are() -> None:
    copied = re.findall(r"^COPY (?!--from)(.*) /source", RECIPE, re.MULTILINE)
    sources = [name for line in copied for name in line.split()]
    assert {"src", "deploy", "requirements/service.txt", "README.md"} <= set(sources)
    assert [name for name in sources if not (ROOT / name).exists()] == []
    assert "RUN /source/deploy/install.sh /opt/midpoint" in RECIPE
    assert "/opt/midpoint/bin/midpoint-start" in RECIPE
    assert "USER midpoint" in RECIPE


def test_the_compose_file_names_settings_that_there_are_and_shows_only_the_proxy() -> None:
    known = {
        option.envvar
        for options in (ListenOptions, ServiceOptions)
        for field in options.__annotations__.values()
        for option in getattr(field, "__metadata__", ())
    } | {"MIDPOINT_DATABASE", "MIDPOINT_DATABASE_PASSWORD_FILE"}
    services = COMPOSE["services"]
    assert set(services["service"]["environment"]) <= known
    assert [name for name, service in services.items() if "ports" in service] == ["proxy"]
    assert services["service"]["networks"] == services["database"]["networks"] == ["inside"]
    assert COMPOSE["networks"]["inside"]["internal"] is True
    assert "./nginx.conf:" in services["proxy"]["volumes"][0]


def directives() -> dict[str, dict[str, list[str]]]:
    """Read the proxy's configuration: each block's directives, by name; not with nginx itself."""
    found: dict[str, dict[str, list[str]]] = {}
    block = ["http"]
    words = re.findall(r"\"[^\"]*\"|[{};]|[^\s{};]+", re.sub(r"#.*", "", PROXY))
    line: list[str] = []
    for word in words:
        if word == "{":
            block.append(" ".join(line))
        elif word == "}":
            assert not line, "a directive without its end"
            block.pop()
        elif word == ";":
            found.setdefault(block[-1], {})[line[0]] = line[1:]
        else:
            line.append(word)
            continue
        line = []
    assert (block, line) == (["http"], [])
    return found


def test_the_proxy_writes_down_nobody_and_bounds_what_one_address_may_do() -> None:
    """It is read here, not run: nginx is not at hand where tests run."""
    blocks = directives()
    http, server, service = blocks["http"], blocks["server"], blocks["location /"]
    assert list(blocks) == ["http", "server", "location /", "location /metrics"]
    assert server["listen"] == ["443", "ssl"]
    assert server["access_log"] == ["off"]
    assert server["error_log"] == ["stderr", "emerg"]  # it names addresses at all other levels
    assert server["proxy_max_temp_file_size"] == ["0"]
    assert server["client_body_buffer_size"] == server["client_max_body_size"]
    # The service says what is too large; a device makes nothing of a page by the proxy.
    megabytes = int(server["client_max_body_size"][0].removesuffix("m"))
    assert megabytes * 2**20 > Settings(site="", database="").largest
    assert float(server["client_header_timeout"][0].removesuffix("s")) < SLOWEST_HEAD
    # Nothing is cached, and no header says who asks.
    named = {name for block in blocks.values() for name in block}
    assert not {name for name in named if "cache" in name or name == "add_header"}
    assert sorted(re.findall(r"proxy_set_header (\S+)", PROXY)) == ["Connection", "Host"]
    # The limits are by address, and of the zones that there are.
    assert http["limit_req_zone"][:2] == ["$binary_remote_addr", "zone=people:10m"]
    assert http["limit_conn_zone"] == ["$binary_remote_addr", "zone=connections:10m"]
    assert service["limit_req"][0] == "zone=people"
    assert service["limit_conn"][0] == "connections"
    assert int(service["limit_conn"][1]) < MOST_CONNECTIONS
    assert blocks["location /metrics"] == {"return": ["404"]}
    port = re.findall(r"^EXPOSE (\d+)$", RECIPE, re.MULTILINE)[0]
    assert service["proxy_pass"] == [f"http://service:{port}"]


def test_the_unit_lets_a_worker_open_as_many_connections_as_it_takes() -> None:
    unit = (DEPLOY / "midpoint.service").read_text("utf-8")
    (files,) = re.findall(r"^LimitNOFILE=(\d+)$", unit, re.MULTILINE)
    assert int(files) > MOST_CONNECTIONS + 1000


def test_what_is_installed_is_locked_to_the_versions_that_are_tested() -> None:
    pinned = {
        name: set(_pins(ROOT / "requirements" / f"{name}.txt")) for name in ("dev", "service")
    }
    assert len(pinned["service"]) > 40
    assert pinned["service"] - pinned["dev"] == set()
    assert {"alembic", "fastapi", "hatchling", "numba"} <= {
        n.split("==")[0] for n in pinned["service"]
    }


def _pins(path: Path) -> list[str]:
    return re.findall(r"^([\w.\-\[\]]+==[\w.\-+]+)", path.read_text("utf-8"), re.MULTILINE)
