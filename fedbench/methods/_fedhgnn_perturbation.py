"""FedHGNN's semantic-preserving perturbation: what a user publishes in place of the items taken (section 4.3).

Items are in groups of one meaning. In two steps, each with a budget of its own:

1. Exponential mechanism: a user with n groups publishes in n groups, drawn without replacement with probabilities
   proportional to exp(eps_1 / n quality(g) / 2), quality(g) = the largest (1 + cosine) / 2 of g's prototype with that
   of a group the user has. A group that the user hasn't starts from random items, as many as a group not drawn had.
2. Degree-preserving randomised response inside each drawn group of n items, d taken: a bit keeps its value with
   probability p = e^eps_2 / (1 + e^eps_2), then a one stays with probability q = d / (d (2 p - 1) + n (1 - p)), so that
   d are expected.

Only drawn pairs are formed: nothing has the size users x items.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from scipy import sparse
from sklearn.cluster import KMeans

from fedbench import seeds as streams
from fedbench.kernels.bipartite import bipartite
from fedbench.kernels.krylov import largest_triplets

_STARTS = 10  # of k-means


@dataclass(frozen=True)
class Groups:
    """A client's item groups: ``label`` int64[items], ``similarity`` [G, G], (1 + cosine) / 2 of their prototypes."""

    label: np.ndarray
    similarity: np.ndarray

    def members(self) -> list[np.ndarray]:
        """Return each group's items, ascending."""
        return [np.flatnonzero(self.label == group) for group in range(len(self.similarity))]


def item_groups(taken: sparse.csr_matrix, count: int, vectors: int) -> Groups:
    """Return groups of items that the same users take: k-means of the items' singular vectors times their values.

    Where nothing is taken, no item differs from another: they are one group.

    Args:
        taken: 0-1 matrix [users, items], the client's training pairs.
        count: groups, fewer if there are fewer different items.
        vectors: singular vectors.
    """
    if not taken.nnz:
        return Groups(np.zeros(taken.shape[1], dtype=np.int64), np.ones((1, 1)))
    random = streams.generator("fedhgnn items", *taken.shape, taken.nnz)
    found = largest_triplets(bipartite([taken], torch.float64, torch.device("cpu")), vectors, random)
    points = (found.right * found.values).numpy()
    count = min(count, len(np.unique(points, axis=0)))
    seed = streams.integer("fedhgnn groups", *taken.shape, taken.nnz)
    label = KMeans(count, n_init=_STARTS, random_state=seed).fit_predict(points).astype(np.int64)
    prototypes = np.stack([points[label == group].mean(0) for group in range(count)])
    unit = prototypes / np.linalg.norm(prototypes, axis=1, keepdims=True).clip(1e-12)
    return Groups(label, (1 + unit @ unit.T) / 2)


def perturbed(
    taken: sparse.csr_matrix, groups: Groups, budgets: tuple[float, float], random: np.random.Generator
) -> np.ndarray:
    """Return the pairs that a client's users publish, int64[2, m], users ascending.

    Args:
        taken: 0-1 matrix [users, items].
        groups: of the items.
        budgets: eps_1 and eps_2.
        random: makes all choices.
    """
    members = groups.members()
    start = _starting_items(taken, groups, members, budgets[0], random)
    rows = [
        (user, members[group][randomised(places, len(members[group]), budgets[1], random)])
        for user, group, places in start
    ]
    none = np.empty(0, dtype=np.int64)  # nothing is taken
    users = np.concatenate([none, *(np.full(len(items), user) for user, items in rows)])
    return np.stack([users, np.concatenate([none, *(items for _, items in rows)])])


def drawn_groups(counts: np.ndarray, similarity: np.ndarray, budget: float, random: np.random.Generator) -> np.ndarray:
    """Return which groups each user publishes in, bool [users, G].

    The k largest of logits plus Gumbel noise are a draw of k without replacement.

    Args:
        counts: items taken of each group, [users, G].
        similarity: of the groups, [G, G].
        budget: eps_1, of all draws of a user together.
        random: draws.
    """
    has, quality = counts > 0, np.zeros(counts.shape)
    for group, row in enumerate(similarity):
        quality[has[:, group]] = np.maximum(quality[has[:, group]], row)
    wanted = has.sum(1, keepdims=True)
    noisy = budget / wanted.clip(1) * quality / 2 + random.gumbel(size=counts.shape)
    rank = (-noisy).argsort(1).argsort(1)
    return np.asarray(rank < wanted)


def randomised(taken: np.ndarray, size: int, budget: float, random: np.random.Generator) -> np.ndarray:
    """Return the published places among ``size``: randomised response, then as many as there were, in the mean.

    Args:
        taken: places taken, int64[d], ascending and without repeats; at least one.
        size: n.
        budget: eps_2.
        random: draws.
    """
    degree, stays = len(taken), 1 / (1 + math.exp(-budget))
    kept = min(degree / (degree * (2 * stays - 1) + size * (1 - stays)), 1.0)
    true = taken[random.random(degree) < stays * kept]
    false = random.choice(size - degree, random.binomial(size - degree, (1 - stays) * kept), replace=False)
    return np.sort(np.concatenate([true, false + np.searchsorted(taken - np.arange(degree), false, side="right")]))


def _starting_items(
    taken: sparse.csr_matrix, groups: Groups, members: list[np.ndarray], budget: float, random: np.random.Generator
) -> list[tuple[int, int, np.ndarray]]:
    """Return user, group and places in the group that step 2 starts from, by user, then group."""
    users, count = taken.shape[0], len(members)
    row = np.repeat(np.arange(users), np.diff(taken.indptr))
    counts = np.bincount(row * count + groups.label[taken.indices], minlength=users * count).reshape(users, count)
    drawn = drawn_groups(counts, groups.similarity, budget, random)
    degree = counts * drawn
    degree[drawn & (counts == 0)] = counts[~drawn & (counts > 0)]  # both as many a user, in the same order of users
    found = []
    for user, group in np.argwhere(drawn):
        own = taken.indices[taken.indptr[user] : taken.indptr[user + 1]]
        own = np.sort(own[groups.label[own] == group])
        places = (
            np.searchsorted(members[group], own) if len(own) else _some(members[group], degree[user, group], random)
        )
        found.append((int(user), int(group), places))
    return found


def _some(items: np.ndarray, degree: int, random: np.random.Generator) -> np.ndarray:
    return np.sort(random.choice(len(items), min(degree, len(items)), replace=False))
