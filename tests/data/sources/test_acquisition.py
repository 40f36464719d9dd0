import hashlib
import io
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest

from midpoint.data.sources import acquisition as obtain
from midpoint.data.sources import wheel
from midpoint.data.sources.acquisition import Obtained, get
from midpoint.data.sources.catalogue import SOURCES
from midpoint.data.sources.download import Checksum, Progress
from midpoint.data.sources.loader import load
from midpoint.errors import MidpointError


def small_zip() -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("ml-100k/u.data", "1\t7\t3\t5\n2\t7\t4\t6\n")
        archive.writestr("ml-100k/u.user", "1|24|M|writer|0\n2|40|F|other|0\n")
        archive.writestr("ml-100k/u.item", "7|Seven (1995)|x\n")
    return content.getvalue()


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    own = tmp_path / "own"
    monkeypatch.delenv("MIDPOINT_DATA", raising=False)
    monkeypatch.setattr("midpoint.data.sources.catalogue.user_data_path", lambda *_, **__: own)
    return own


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes]:
    """Stand in for the web: addresses and what is there; nothing there is no network."""
    served: dict[str, bytes] = {}

    def fetch_text(url: str) -> str | None:
        if not served:
            raise MidpointError("no network")
        return served[url].decode() if url in served else None

    def fetch(
        url: str, target: Path, *, checksum: Checksum | None, progress: Progress | None
    ) -> None:
        target.parent.mkdir(parents=True, exist_ok=True)
        content = served[url]
        if checksum is not None and hashlib.md5(content).hexdigest() != checksum[1]:  # noqa: S324
            raise MidpointError("checksum differs")
        target.write_bytes(content)
        if progress is not None:
            progress(len(content), len(content))

    monkeypatch.setattr(obtain, "fetch_text", fetch_text)
    monkeypatch.setattr(obtain, "fetch", fetch)
    return served


URL = SOURCES["movielens-100k"].url or ""


def test_the_publishers_zip_is_kept_and_not_fetched_twice(own: Path, web: dict[str, bytes]) -> None:
    content = small_zip()
    web |= {URL: content, URL + ".md5": hashlib.md5(content).hexdigest().encode()}  # noqa: S324
    seen: list[tuple[int, int | None]] = []
    got = get("movielens-100k", progress=lambda *step: seen.append(step))
    assert got == Obtained(own / "ml-100k.zip", "official")
    assert seen == [(len(content), len(content))]
    assert load("movielens-100k").n_users == 2
    web.clear()
    assert get("movielens-100k") == Obtained(own / "ml-100k.zip", None)
    with pytest.raises(MidpointError, match="no network"):
        get("movielens-100k", again=True, route="official")
    assert sorted(path.name for path in own.iterdir()) == ["ml-100k.zip"]


def test_what_is_in_the_given_directory_is_never_fetched_or_written(
    own: Path, web: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = tmp_path / "given"
    given.mkdir()
    (given / "ml-100k.zip").write_bytes(small_zip())
    monkeypatch.setenv("MIDPOINT_DATA", str(given))
    assert get("movielens-100k") == Obtained(given / "ml-100k.zip", None)
    web |= {URL: small_zip()}
    assert get("movielens-100k", again=True).path == own / "ml-100k.zip"
    assert [path.name for path in given.iterdir()] == ["ml-100k.zip"]


def test_a_broken_zip_or_a_wrong_checksum_is_not_kept(own: Path, web: dict[str, bytes]) -> None:
    web |= {URL: small_zip()[:-30]}
    with pytest.raises(MidpointError, match="is not a whole zip"):
        get("movielens-100k", route="official")
    web |= {URL: small_zip(), URL + ".md5": b"0" * 32}
    with pytest.raises(MidpointError, match="checksum differs"):
        get("movielens-100k", route="official")
    assert list(own.iterdir()) == []


def test_without_the_publisher_the_package_is_tried(
    own: Path, web: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not web
    asked: list[Path] = []
    monkeypatch.setattr(obtain, "movielens_100k_from_wheel", asked.append)
    assert get("movielens-100k").route == "wheel"
    assert asked == [own / "ml-100k-recbole"]
    with pytest.raises(MidpointError, match="no network"):
        get("movielens-1m")
    with pytest.raises(MidpointError, match="no Python package carries movielens-1m"):
        get("movielens-1m", route="wheel")


def test_both_reasons_are_named_when_both_ways_fail(
    own: Path, web: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not web

    def fail(_: Path) -> None:
        raise MidpointError("no package")

    monkeypatch.setattr(obtain, "movielens_100k_from_wheel", fail)
    with pytest.raises(MidpointError, match=r"no network.*no package"):
        get("movielens-100k")
    assert not own.exists()


@pytest.mark.parametrize("name", ["flixster", "politics-and-tv", "young-people", "anes-tv"])
def test_what_cannot_be_downloaded_says_how_to_obtain_it(own: Path, name: str) -> None:
    with pytest.raises(MidpointError) as refused:
        get(name)
    assert SOURCES[name].obtain in str(refused.value)
    assert str(own) in str(refused.value)


def made_wheel(directory: Path, content: bytes) -> None:
    with zipfile.ZipFile(directory / "recbole-1.2.0-py3-none-any.whl", "w") as archive:
        for name in wheel.FILES:
            archive.writestr(f"{wheel.DIRECTORY}/{name}", content)


def pretend(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    """Let the installer bring a wheel with this content in all files."""
    monkeypatch.setattr(wheel, "_command", lambda directory: [str(directory)])
    monkeypatch.setattr(wheel, "_run", lambda command: made_wheel(Path(command[0]), content))


def test_files_of_the_wheel_must_be_the_published_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pretend(monkeypatch, b"forged")
    with pytest.raises(MidpointError, match="it is not the published file"):
        wheel.movielens_100k_from_wheel(tmp_path / "x")
    assert not (tmp_path / "x").exists()
    honest = dict.fromkeys(wheel.FILES, hashlib.sha256(b"forged").hexdigest())
    monkeypatch.setattr(wheel, "FILES", honest)
    wheel.movielens_100k_from_wheel(tmp_path / "x")
    assert {path.name for path in (tmp_path / "x").iterdir()} == set(honest)


def test_an_installer_that_fails_is_quoted() -> None:
    with pytest.raises(MidpointError, match="cannot be had: No such option"):
        wheel._run(["sh", "-c", "echo No such option >&2; exit 2"])
    with pytest.raises(MidpointError, match="cannot be had"):
        wheel._run(["/no/such/program"])


def test_uv_is_used_where_pip_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wheel, "find_spec", lambda _: None)
    monkeypatch.setattr("shutil.which", lambda _: "/bin/uv")
    assert wheel._command(tmp_path)[:3] == ["/bin/uv", "pip", "install"]
    monkeypatch.setattr("shutil.which", lambda _: None)
    with pytest.raises(MidpointError, match="neither pip nor uv"):
        wheel._command(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("installer", ["pip", "uv"])
def test_the_real_wheel_carries_movielens_100k(
    own: Path, monkeypatch: pytest.MonkeyPatch, installer: str
) -> None:
    if find_spec(installer) is None:
        pytest.skip(f"{installer} is not installed")
    only = {installer: find_spec(installer)}
    monkeypatch.setattr(wheel, "find_spec", only.get)
    try:
        got = get("movielens-100k", route="wheel")
    except MidpointError as error:
        if "cannot be had" in str(error):
            pytest.skip(str(error))
        raise
    assert got == Obtained(own / "ml-100k-recbole", "wheel")
    ratings = load("movielens-100k")
    assert (ratings.n_users, ratings.n_items, len(ratings)) == (943, 1682, 100_000)
    assert ratings.features["gender"].counts.tolist() == [273, 670]
    assert "Toy Story (1995)" in ratings.item_names
