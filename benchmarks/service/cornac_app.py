"""Cornac's serving app as a peer for scores: train its matrix factorization, serve it.

`train DIRECTORY DIMENSION` reads `ratings.npz` there, and `serve DIRECTORY --port N` serves what
that made, as its documentation says: Flask, under gunicorn, one process as ours.
"""

import os
import sys
from pathlib import Path

RATINGS, MODEL = "ratings.npz", "cornac"
NEEDED = "import cornac, flask, gunicorn"
THREADS = "4"
"""As many as our service has for reading."""


def train(directory: Path, dimension: int) -> None:
    import numpy as np  # noqa: PLC0415 - this program runs where Midpoint is not
    from cornac.data import Dataset  # noqa: PLC0415
    from cornac.models import MF  # noqa: PLC0415

    ratings = np.load(directory / RATINGS)
    users, items = (ratings[name].astype(str).tolist() for name in ("user", "item"))
    rated = Dataset.from_uir(zip(users, items, ratings["value"].tolist(), strict=True))
    model = MF(k=dimension, max_iter=5, verbose=False).fit(rated)
    Path(directory / MODEL).write_text(model.save(str(directory / "saved")))


def serve(directory: Path, port: str) -> None:
    os.environ["MODEL_PATH"] = (directory / MODEL).read_text()
    os.environ["MODEL_CLASS"] = "cornac.models.MF"
    flags = ["--bind", f"127.0.0.1:{port}", "--threads", THREADS, "--log-level", "warning"]
    program = [sys.executable, "-m", "gunicorn", *flags, "cornac.serving.app:app"]
    os.execv(sys.executable, program)  # noqa: S606 - its signals are gunicorn's


if __name__ == "__main__":
    if sys.argv[1] == "train":
        train(Path(sys.argv[2]), int(sys.argv[3]))
    else:
        serve(Path(sys.argv[2]), sys.argv[4])
