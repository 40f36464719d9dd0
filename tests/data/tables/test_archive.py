import gzip
import zipfile
from pathlib import Path

import pytest

from midpoint.data.tables.archive import Archive, read_bytes
from midpoint.errors import MidpointError

CONTENT = b"1::2::3::4\n" * 500


def packed(path: Path) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("ml-1m/", "")
        archive.writestr("ml-1m/Ratings.dat", CONTENT)
        archive.writestr("ml-1m/deeper/ratings.dat", b"not this one")
    return path


def test_a_zip_and_a_directory_are_read_alike_whatever_case_and_depth(tmp_path: Path) -> None:
    (tmp_path / "directory" / "ml-1m").mkdir(parents=True)
    (tmp_path / "directory" / "ml-1m" / "RATINGS.DAT").write_bytes(CONTENT)
    for path in (
        packed(tmp_path / "a.zip"),
        tmp_path / "directory",
        tmp_path / "directory" / "ml-1m",
    ):
        archive = Archive(path)
        assert "ratings.dat" in archive.names
        assert archive.read("ratings.dat") == CONTENT


def test_a_truncated_zip_says_so(tmp_path: Path) -> None:
    path = packed(tmp_path / "cut.zip")
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(MidpointError, match=r"cut\.zip is not a whole zip file.*get it again"):
        Archive(path)


def test_damaged_bytes_inside_a_zip_are_noticed(tmp_path: Path) -> None:
    path = packed(tmp_path / "bad.zip")
    content = bytearray(path.read_bytes())
    at = content.index(b"Ratings.dat") + len(b"Ratings.dat") + 4
    content[at] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(MidpointError, match=r"Ratings\.dat cannot be unpacked"):
        Archive(path).read("ratings.dat")


def test_a_missing_member_is_named(tmp_path: Path) -> None:
    with pytest.raises(MidpointError, match=r"has no file users\.dat"):
        Archive(packed(tmp_path / "a.zip")).read("users.dat")


def test_gzip_is_unpacked_and_a_cut_one_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(CONTENT))
    assert read_bytes(path) == CONTENT
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(MidpointError, match="cannot be read"):
        read_bytes(path)
