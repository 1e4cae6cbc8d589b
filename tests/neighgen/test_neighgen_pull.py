"""The search for the nearest node and the loss built on it, against the plain formula; its memory."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from fedbench.neighgen.operators import Features, features
from fedbench.neighgen.pull import Pull, add_nearest_of_all, add_nearest_of_pairs, first_least, pairs
from fedbench.tasks.node.arrays import ClientGraph
from tests.neighgen.plain import CPU, DOUBLE, dense
from tests.toys import toy_problem


def rows_of(nodes: int, width: int = 12) -> tuple[Features, Tensor]:
    graph: ClientGraph = toy_problem((nodes,), width=width).client_graph(0)
    return features(graph, width, DOUBLE, CPU), dense(graph, width)


def generated_rows(count: int, width: int = 12) -> Tensor:
    return torch.rand(count, width, dtype=DOUBLE, generator=torch.Generator().manual_seed(3)).requires_grad_()


@pytest.mark.parametrize("chunk", [1, 4, 7, 100])
def test_nearest_of_all_has_value_and_gradient_of_the_minimum(chunk: int) -> None:
    found, x = rows_of(30)
    g, wanted = generated_rows(11), torch.tensor([0, 1, 3, 4, 6, 7, 8, 10])
    pull = Pull.none(g)
    add_nearest_of_all(pull, g.detach(), wanted, found, chunk)
    ours = pull.of(g)
    plain = sum(((g[row] - x) ** 2).sum(1).min() for row in wanted)
    assert ours.item() == pytest.approx(plain.item(), rel=1e-12)
    (mine,), (true,) = torch.autograd.grad(ours, g), torch.autograd.grad(plain, g)
    torch.testing.assert_close(mine, true, rtol=1e-12, atol=1e-12)
    assert mine[2].abs().sum() == 0  # not wanted, not pulled


def test_nearest_of_pairs_is_the_minimum_over_a_rows_candidates() -> None:
    found, x = rows_of(20)
    g = generated_rows(4)
    offers = {0: [3, 5, 19], 1: [7], 3: [2, 0]}  # row 2 has none
    row = torch.tensor([r for r, nodes in offers.items() for _ in nodes])
    node = torch.tensor([u for nodes in offers.values() for u in nodes])
    pull = Pull.none(g)
    add_nearest_of_pairs(pull, g.detach(), row, found, node)
    plain = sum(((g[r] - x[nodes]) ** 2).sum(1).min() for r, nodes in offers.items())
    assert pull.of(g).item() == pytest.approx(plain.item(), rel=1e-12)
    (mine,), (true,) = torch.autograd.grad(pull.of(g), g), torch.autograd.grad(plain, g)
    torch.testing.assert_close(mine, true, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("rows", [1, 3, 63, 64, 65, 200])
def test_first_least_by_a_loop_with_ties(rows: int) -> None:
    values = torch.randint(0, 30, (rows, 50), generator=torch.Generator().manual_seed(rows))
    expected = [min(range(rows), key=lambda row: values[row, column].item()) for column in range(50)]
    assert first_least(values).tolist() == expected


def test_of_equally_near_candidates_the_first_is_taken_once() -> None:
    found, x = rows_of(6)
    g = generated_rows(1)
    pull = Pull.none(g)
    add_nearest_of_pairs(pull, g.detach(), torch.tensor([0, 0, 0]), found, torch.tensor([4, 4, 4]))
    assert pull.weight.tolist() == [1.0]
    torch.testing.assert_close(pull.target[0], x[4])


def test_sums_add_up() -> None:
    found, x = rows_of(8)
    g = generated_rows(2)
    one, other = Pull.none(g), Pull.none(g)
    one.add(torch.tensor([0]), found, torch.tensor([2]))
    one.add(torch.tensor([0, 1]), found, torch.tensor([5, 5]))
    plain = ((g[0] - x[2]) ** 2).sum() + ((g - x[5]) ** 2).sum()
    assert one.of(g).item() == pytest.approx(plain.item(), rel=1e-12)
    assert other.of(g).item() == 0.0


def test_pairs_by_hand() -> None:
    rows, position = pairs(torch.tensor([8, 9, 5]), torch.tensor([0, 4, 2]), torch.tensor([2, 4, 5]))
    assert rows.tolist() == [8, 8, 5, 5, 5]
    assert position.tolist() == [0, 1, 2, 3, 4]


class Largest(TorchDispatchMode):
    """Notes the most elements that any tensor has that is made while it is on."""

    elements = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        made = out if isinstance(out, (tuple, list)) else [out]
        self.elements = max([self.elements, *(t.numel() for t in made if isinstance(t, Tensor))])
        return out


def test_the_search_makes_nothing_of_nodes_times_nodes() -> None:
    """Nodes and generated rows both doubled: the largest tensor doubles, and is nodes x chunk, not nodes x rows."""
    largest = []
    for nodes in (400, 800):
        found, _ = rows_of(nodes)
        g = generated_rows(nodes).detach()
        with Largest() as seen:
            add_nearest_of_all(Pull.none(g), g, torch.arange(nodes), found, 16)
        largest.append(seen.elements)
    assert largest == [400 * 16, 800 * 16]
