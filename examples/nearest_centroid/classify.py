"""Classify each client's nodes by the nearest class centroid of their features: no graph, no federation.

A program outside fedbench: it reads the two files that fedbench made and writes a tidy CSV, with numpy and scikit-learn
alone. `fedbench record` turns the CSV into a run record. Nothing here is random, so every seed gives the same figures.
"""

import argparse
import csv
from pathlib import Path

import numpy as np
from sklearn.neighbors import NearestCentroid

SPLITS = ("train", "val", "test")


def read_features(arrays):
    """Return the features as float32[nodes, width] from their CSR arrays."""
    dense = np.zeros(arrays["x_shape"], np.float32)
    rows = np.repeat(np.arange(len(dense)), np.diff(arrays["x_indptr"]))
    dense[rows, arrays["x_indices"]] = arrays["x_data"]
    return dense


def accuracies(features, labels, split):
    """Return one client's accuracy by split; NaN where the split is empty."""
    train = split == 0
    classes = np.unique(labels[train])
    if len(classes) > 1:
        right = NearestCentroid().fit(features[train], labels[train]).predict(features) == labels
    else:
        right = np.isin(labels, classes)
    return {name: right[split == code].mean() if (split == code).any() else np.nan for code, name in enumerate(SPLITS)}


def rows(arrays, cut, seeds):
    """Yield the record's rows: seed, client, round, split, metric, value."""
    features = read_features(arrays)
    for client in np.unique(cut["client"]):
        own = cut["client"] == client
        node = cut["node"][own]
        found = accuracies(features[node], arrays["y"][node], cut["split"][own])
        yield from ((seed, client, 1, name, "accuracy", value) for seed in seeds for name, value in found.items())


def main():
    """Read two files, write one."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("--dataset-file", "--partition-file", "--seeds", "--out"):
        parser.add_argument(name, required=True)
    args = parser.parse_args()
    first, last = map(int, args.seeds.split("-"))
    with np.load(args.dataset_file) as arrays, np.load(args.partition_file) as cut, Path(args.out).open("w") as stream:
        writer = csv.writer(stream)
        writer.writerow(("seed", "client", "round", "split", "metric", "value"))
        writer.writerows(rows(dict(arrays), dict(cut), range(first, last + 1)))


if __name__ == "__main__":
    main()
