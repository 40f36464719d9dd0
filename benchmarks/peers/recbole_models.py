"""Train one model of RecBole on one atomic file, and write its score of every item for everyone.

Runs in an environment of its own, since RecBole needs older libraries than the others:
`python -m venv recbole && recbole/bin/pip install recbole "numpy<2" "pandas<2.3" "setuptools<80"`.
`own_recommender.py --recbole recbole/bin/python` starts it.
"""

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch
from recbole.config import Config  # type: ignore[import-not-found]
from recbole.data import create_dataset  # type: ignore[import-not-found]
from recbole.data.dataloader import TrainDataLoader  # type: ignore[import-not-found]
from recbole.sampler import Sampler  # type: ignore[import-not-found]
from recbole.utils import get_model, get_trainer, init_seed  # type: ignore[import-not-found]


def main() -> None:
    """Read `DIRECTORY/NAME/NAME.inter`, train, and write scores with the names of their rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", help="such as EASE, ItemKNN or BPR")
    parser.add_argument("data", type=Path, help="a directory that holds an atomic file of its name")
    parser.add_argument("out", type=Path, help="where to write: an .npz file")
    chosen = parser.parse_args()
    sys.argv = sys.argv[:1]  # RecBole reads the command line as well

    settings = {
        "data_path": str(chosen.data.parent),
        "load_col": {"inter": ["user_id", "item_id"]},
        "embedding_size": 20,
        "epochs": 50,
        "use_gpu": False,
        "show_progress": False,
        "worker": 0,
        "checkpoint_dir": str(chosen.out.parent),
    }
    config = Config(model=chosen.model, dataset=chosen.data.name, config_dict=settings)
    init_seed(config["seed"], config["reproducibility"])
    data = create_dataset(config)
    data._change_feat_format()  # noqa: SLF001 - as its own splitting does
    sampler = Sampler(["train"], [data]).set_phase("train")
    loader = TrainDataLoader(config, data, sampler, shuffle=True)
    model = get_model(chosen.model)(config, data)
    get_trainer(config["MODEL_TYPE"], chosen.model)(config, model).fit(loader, saved=False)
    model.eval()
    everyone = np.arange(1, data.user_num)  # 0 stands for nobody
    scores = [_scores(model, user) for user in everyone]
    names = {
        "users": data.id2token("user_id", everyone),
        "items": data.id2token("item_id", np.arange(1, data.item_num)),
    }
    texts = {name: array.astype(str) for name, array in names.items()}
    np.savez_compressed(chosen.out, scores=np.array(scores), **texts)


def _scores(model: Any, user: np.int64) -> Any:
    with torch.no_grad():
        scores = model.full_sort_predict({"user_id": torch.tensor([user])})
    return scores.reshape(-1)[1:].cpu().numpy()


if __name__ == "__main__":
    main()
