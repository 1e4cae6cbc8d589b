"""FedPerGNN's graph expansion: users of other clients who took the same items, found through a third party.

Clients encrypt the items of their training pairs with a key that they share and the third party doesn't know. The
third party sees tokens and users by their client's own numbers; for each token it tells every client of users of other
clients with the same token, and later passes on these users' vectors. Pseudo-items are rows of the item table that a
client uploads without having them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np

from fedbench import seeds as streams
from fedbench.tasks.rec.arrays import ClientPairs
from fedbench.tasks.rec.negatives import Negatives
from fedbench.tasks.rec.query import Query


@dataclass(frozen=True)
class Match:
    """A user of another client with the same item: int64[m] each, ``tokens`` uint64[m]."""

    tokens: np.ndarray
    senders: np.ndarray
    users: np.ndarray


class OwnNegatives(Negatives):
    """Items that users haven't taken, among those that the client has: pseudo-items are none.

    Args:
        pairs: int64[2, m], by places among the client's own items.
        users: number of users.
        own: int64[n], its items' rows in its table.
    """

    def __init__(self, pairs: np.ndarray, users: int, own: np.ndarray) -> None:
        super().__init__(pairs, users, len(own))
        self._own = own

    def nth(self, users: np.ndarray, rank: np.ndarray) -> np.ndarray:
        """Return the users' items not taken at places ``rank``, as rows of the table."""
        return np.asarray(self._own[super().nth(users, rank)])


@dataclass(frozen=True, kw_only=True)
class ExpandedPairs(ClientPairs):
    """A client's pairs with what expansion added; its table has rows of its items and of pseudo-items, by item number.

    Attributes:
        own: int64[n], rows of its own items.
        leaving: bool[items], rows that another client has too, as an item or as a pseudo-item.
        links: int64[2, m], outside users, numbered from 0, and the rows of items they took.
        senders, places: int64[o], which client sends an outside user's vector, and where among those it sends.
        sent: int64[b], own users whose vectors others asked for.
    """

    own: np.ndarray
    leaving: np.ndarray
    links: np.ndarray
    senders: np.ndarray
    places: np.ndarray
    sent: np.ndarray

    @property
    def outside(self) -> int:
        """Outside users."""
        return len(self.senders)

    @property
    def pseudo(self) -> np.ndarray:
        """Rows of pseudo-items."""
        return np.setdiff1d(np.arange(self.items), self.own)

    @property
    def whole_queries(self) -> tuple[Query, ...]:
        """The client's own items: pseudo-items are no candidates."""
        return self.queries

    @cached_property
    def negatives(self) -> Negatives:
        """Items that users haven't taken, among the client's own."""
        return OwnNegatives(np.stack([self.train[0], np.searchsorted(self.own, self.train[1])]), self.users, self.own)


def expanded(clients: Sequence[ClientPairs], neighbours: int, pseudo: int, seed: int) -> list[ExpandedPairs]:
    """Return the clients with outside users and pseudo-items.

    Args:
        clients: their own pairs.
        neighbours: outside users of an item at most.
        pseudo: pseudo-items of a client at most.
        seed: of the run.
    """
    names, key = with_pseudo_items(clients, pseudo, seed), clients_key(seed)
    found = third_party([_links(client, key) for client in clients], neighbours, seed)
    sent = [_asked_of(k, found) for k in range(len(clients))]
    holders = np.bincount(np.concatenate(names))
    return [
        _expanded(client, own, holders[own] > 1, _outside(client, own, match, sent, key) | {"sent": mine})
        for client, own, match, mine in zip(clients, names, found, sent, strict=True)
    ]


def with_pseudo_items(clients: Sequence[ClientPairs], most: int, seed: int) -> list[np.ndarray]:
    """Return each client's item numbers and those of its pseudo-items, ascending.

    Pseudo-items are drawn from the items that the server averages, those of two clients or more; without such there are
    none. Clients of as many users and items have as many, the most that each of them can have: they may be computed
    together.
    """
    averaged = np.flatnonzero(np.bincount(np.concatenate([client.item_ids for client in clients])) > 1)
    others = [np.setdiff1d(averaged, client.item_ids) for client in clients]
    sizes = [(client.users, client.items) for client in clients]
    found = []
    for k, client in enumerate(clients):
        fewest = min(len(left) for left, size in zip(others, sizes, strict=True) if size == sizes[k])
        random = streams.generator("fedpergnn pseudo-items", seed, k)
        found.append(np.union1d(client.item_ids, random.choice(others[k], min(most, fewest), replace=False)))
    return found


def clients_key(seed: int) -> bytes:
    """Return the key that clients share, 16 bytes."""
    return b"".join(word.to_bytes(8, "little") for word in streams.key("fedpergnn clients' key", seed))


def tokens_of(items: np.ndarray, key: bytes) -> np.ndarray:
    """Return uint64[m]: items encrypted with the clients' key (BLAKE2)."""
    digests = b"".join(hashlib.blake2b(int(i).to_bytes(8, "little"), digest_size=8, key=key).digest() for i in items)
    return np.frombuffer(digests, dtype=np.uint64)


def _links(client: ClientPairs, key: bytes) -> tuple[np.ndarray, np.ndarray]:
    """Return what a client sends of its training pairs: tokens and users."""
    return tokens_of(client.item_ids, key)[client.train[1]], client.train[0]


def third_party(links: Sequence[tuple[np.ndarray, np.ndarray]], neighbours: int, seed: int) -> list[Match]:
    """Return, for each client, users of other clients with the same tokens, at most ``neighbours`` a token.

    Args:
        links: of each client, tokens uint64[m] and users int64[m]: all that the third party gets to see.
        neighbours: users of a token at most, drawn evenly.
        seed: of the run.
    """
    tokens, users = (np.concatenate(parts) for parts in zip(*links, strict=True))
    sender = np.repeat(np.arange(len(links)), [len(own) for own, _ in links])
    found = []
    for k, (own, _) in enumerate(links):
        entry = np.flatnonzero((sender != k) & np.isin(tokens, own))
        noise = streams.generator("fedpergnn neighbours", seed, k).random(len(entry))
        entry = entry[np.lexsort((noise, tokens[entry]))]
        rank = np.arange(len(entry)) - np.searchsorted(tokens[entry], tokens[entry])
        chosen = entry[rank < neighbours]
        found.append(Match(tokens[chosen], sender[chosen], users[chosen]))
    return found


def _asked_of(client: int, found: Sequence[Match]) -> np.ndarray:
    """Return the users of a client that others were told of, ascending."""
    return np.unique(np.concatenate([match.users[match.senders == client] for match in found]))


def _outside(
    client: ClientPairs, names: np.ndarray, match: Match, sent: Sequence[np.ndarray], key: bytes
) -> dict[str, Any]:
    """Return links, senders and places; a client reads tokens by its own table of them."""
    known = tokens_of(client.item_ids, key)
    order = np.argsort(known)
    item = client.item_ids[order[np.searchsorted(known, match.tokens, sorter=order)]]
    who, number = np.unique(np.stack([match.senders, match.users]), axis=1, return_inverse=True)
    places = [np.searchsorted(sent[sender], user) for sender, user in who.T]
    links = np.stack([number.ravel(), np.searchsorted(names, item)])
    return {"links": links, "senders": who[0], "places": np.array(places, dtype=np.int64)}


def _expanded(client: ClientPairs, names: np.ndarray, leaving: np.ndarray, found: dict[str, Any]) -> ExpandedPairs:
    own = np.searchsorted(names, client.item_ids)
    known: dict[str, Any] = {field.name: getattr(client, field.name) for field in fields(ClientPairs)}
    known |= {split: _renumbered(known[split], own) for split in ("train", "val", "test")}
    known |= {"items": len(names), "item_ids": names, "groups": ((np.arange(client.users), own),)}
    return ExpandedPairs(**known, **found, own=own, leaving=leaving)


def _renumbered(pairs: np.ndarray, own: np.ndarray) -> np.ndarray:
    return np.stack([pairs[0], own[pairs[1]]])
