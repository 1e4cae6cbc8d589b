"""FedHGNN with dense meta-path matrices and PyG's GATConv."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn
from torch_geometric.nn import GATConv

TASKS = ("rec",)
SMALL = {"groups": 4, "vectors": 3, "neighbours": 5}
Model = dict[str, Tensor]


def path_edges(matrix: np.ndarray, most: int) -> Tensor:
    """Return edges from neighbours to nodes, [2, m]: rows that share most columns, and the node itself."""
    shared, edges = matrix @ matrix.T, []
    for node in range(len(matrix)):
        others = [j for j in range(len(matrix)) if j != node and shared[node, j] > 0]
        others.sort(key=lambda j: (-shared[node, j], j))
        edges += [(j, node) for j in [node, *others[:most]]]
    return torch.tensor(edges).T


def side(p: Model, name: str, table: Tensor, edges: Tensor, heads: int, hidden: int) -> Tensor:
    """Return one side's final vectors."""
    conv = GATConv(table.shape[1], hidden, heads, add_self_loops=False, bias=False).double()
    weights = {"lin.weight": p[f"han.{name}.weight"].T, "att_src": p[f"han.{name}.sent"][None],
               "att_dst": p[f"han.{name}.own"][None]}  # fmt: skip
    z = nn.functional.elu(torch.func.functional_call(conv, weights, (table, edges)))
    return z @ p[f"han.{name}.out.weight"] + p[f"han.{name}.out.bias"]
