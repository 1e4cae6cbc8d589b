"""Small recommendation problems."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from fedbench.datasets.rec.raw import TEST, TRAIN
from fedbench.datasets.rec.store import RecDataset
from fedbench.files import sha256_of
from fedbench.partition.rec.store import RecPartition
from fedbench.tasks.rec.arrays import ClientPairs, RecProblem


def toy_rec(users: int = 90, items: int = 180, clients: int = 3, shared: int = 1, seed: int = 0) -> RecProblem:
    """Random pairs of three splits; client k has users and items of number k mod ``clients``, all have the first items.

    ``shared`` says how many: with none, all clients have as many items.
    """
    random = np.random.default_rng(seed)
    pairs = np.argwhere(random.random((users, items)) < 0.35)
    split = random.choice(3, len(pairs), p=[0.7, 0.15, 0.15]).astype(np.int8)
    dataset = RecDataset(*pairs.T, split, meta={"dataset": "toy", "task": "rec", "users": users, "items": items})
    user = np.argsort(np.arange(users) % clients, kind="stable")
    held = [(k, i) for k in range(clients) for i in range(items) if i % clients == k or i < shared]
    item_client, item = np.array(held).T
    about = {"dataset": "toy", "task": "rec", "clients": clients}
    return RecProblem(dataset, RecPartition(user % clients, user, item_client, item, meta=about))


def uneven(users: int = 15, items: int = 45) -> RecProblem:
    """Three clients; items 0 to 8 are in all of them, 9 to 14 in the first two: the third may have pseudo-items."""
    problem = toy_rec(users, items, shared=9)
    held = [(k, i) for k in range(3) for i in range(items) if i % 3 == k or i < 9 or (i < 15 and k < 2)]
    for name, values in zip(("item_client", "item"), np.array(held).T, strict=True):
        object.__setattr__(problem.partition, name, values)
    return problem


def without_training_pairs(problem: RecProblem, client: int) -> RecProblem:
    """Return the problem with all training pairs of a client's users held out for the test."""
    data = problem.dataset
    moved = np.isin(data.users, problem.partition.users_of(client)) & (data.split == TRAIN)
    return replace(problem, dataset=replace(data, split=np.where(moved, TEST, data.split).astype(np.int8)))


def write_problem(problem: RecProblem, dataset: Path, partition: Path, **about: Any) -> None:
    """Write both files; ``about`` is added to the partition's description."""
    problem.dataset.write(dataset)
    meta = problem.partition.meta | {"dataset_digest": sha256_of(dataset)} | about
    replace(problem.partition, meta=meta).write(partition)


def one_client(pairs: np.ndarray, users: int, items: int, split: np.ndarray | None = None) -> ClientPairs:
    """Return a client of pairs int64[m, 2], all of them training pairs unless ``split`` says otherwise."""
    split = np.zeros(len(pairs), dtype=int) if split is None else split
    order = np.lexsort((pairs[:, 1], pairs[:, 0]))
    pairs, split = pairs[order], split[order]
    parts = [pairs[split == code].T for code in range(3)]
    return ClientPairs(users, items, *parts, ((np.arange(users), np.arange(items)),), np.arange(items))
