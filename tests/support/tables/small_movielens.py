"""MovieLens 100K in its layout, with two ratings."""

import zipfile
from pathlib import Path

FILES = {
    "u.data": "1\t7\t3\t5\n2\t7\t4\t6\n",
    "u.user": "1|24|M|writer|0\n2|40|F|other|0\n",
    "u.item": "7|Seven (1995)|x\n",
}


def small_100k(path: Path, first_rating: str = "3") -> Path:
    """Write it as a zip or as a directory."""
    files = FILES | {"u.data": FILES["u.data"].replace("\t3\t", f"\t{first_rating}\t")}
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w") as archive:
            for name, text in files.items():
                archive.writestr(f"ml-100k/{name}", text)
    else:
        path.mkdir(parents=True)
        for name, text in files.items():
            (path / name).write_text(text)
    return path
