"""LPSFed's client network: low-pass layers, a pooling and a prediction network, codes of popularity.

Z^(l+1) = P diag(k^(l)) P^T Z^(l)                 `lpsfed_layers`
H = tanh(MLP_pool([Z^(0) | ... | Z^(L)]))         `LPSFedNetwork.pooled`
cos R_ui = tanh f(U_u, V_i, U_u * V_i)            `lpsfed_heads`; items are ranked by f, descending
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import normalize

from fedbench.configuration.protocol import ModelSettings
from fedbench.kernels.bipartite import Rows
from fedbench.kernels.dropout import DropoutStream
from fedbench.kernels.pairs import pair_products
from fedbench.models.lpsfed_heads import POOL, Prediction, Sizes, declared, deeper, pool_widths, prediction_of
from fedbench.models.lpsfed_layers import Layers, layers_named, sizes_of
from fedbench.models.parameters import Parameter, Parameters
from fedbench.models.ranking import InnerProduct, PairBatch, PairScores, RecBlock, Scorer
from fedbench.models.vectors import normal_of, pair_squares

USER_CODES, ITEM_CODES = "popularity.user", "popularity.item"


@dataclass(frozen=True)
class Form:
    """How the network is built: layers named ``convolution``, depths of both small networks, what is trained on.

    ``trained_on``: ``mlp_angle``, f; or ``cosine``, that of the pooled vectors (released code, which still ranks by f).
    ``codes``: rows of the two tables of popularity codes; None for no tables.
    """

    convolution: str = "lgcn"
    pool_layers: int = 1
    predict_layers: int = 1
    trained_on: str = "mlp_angle"
    codes: tuple[int, int] | None = None


@dataclass(frozen=True)
class LPSFedNetwork:
    """Tables, kernels and popularity codes are private; the pooling and the prediction network may leave a client.

    Args:
        users: of the client.
        items: of the client.
        model: width d, layers L, frequencies Phi, how tables start.
        form: the rest.
    """

    users: int
    items: int
    model: ModelSettings
    form: Form

    @property
    def width(self) -> int:
        """Width d of all vectors."""
        return self.model.hidden_widths[0]

    @property
    def layers(self) -> Layers:
        """Z^(0) ... Z^(L)."""
        return layers_named(self.form.convolution, self.users, self.items, self.model)

    @property
    def prediction(self) -> Prediction:
        """The network f."""
        return prediction_of(self.form.predict_layers, self.width)

    def parameters(self) -> Mapping[str, Parameter]:
        """Declare tables, layers, both small networks, and codes from N(0.01, 0.02^2) (released)."""
        stacked = (self.model.layers + 1) * self.width
        pooling = declared(POOL, pool_widths(self.form.pool_layers, stacked, self.width))
        found = {**self.layers.parameters(), **pooling, **self.prediction.parameters()}
        names = zip((USER_CODES, ITEM_CODES), self.form.codes or (), strict=False)
        start = normal_of(0.02, mean=0.01)
        return found | {name: Parameter((rows, self.width), start, private=True) for name, rows in names}

    def effective(self, parameters: Parameters) -> Parameters:
        """Return the parameters unchanged."""
        return parameters

    def pooled(self, parameters: Parameters, block: RecBlock, chosen: tuple[Tensor, Tensor]) -> Rows:
        """Return H of some users and items, and their vectors of layer 0."""
        first = self.layers.mapped(parameters, block, chosen, parameters[f"{POOL}1.weight"])
        of_users, of_items = self._sizes(parameters, chosen)
        users = torch.tanh(deeper(parameters, POOL, first.users, of_users))
        items = torch.tanh(deeper(parameters, POOL, first.items, of_items))
        return Rows(users, items, first.base_users, first.base_items)

    def _sizes(self, parameters: Parameters, chosen: tuple[Tensor, Tensor]) -> tuple[list[int], list[int]]:
        clients = len(parameters[f"{POOL}1.weight"])
        return sizes_of(chosen[0], self.users, clients), sizes_of(chosen[1], self.items, clients)

    def forward(self, parameters: Parameters, batch: PairBatch, dropout: DropoutStream | None) -> PairScores:
        """Return what a batch's pairs are trained on."""
        chosen = batch.user_rows, batch.item_rows
        rows = self.pooled(parameters, batch.block, chosen)
        squares = pair_squares(rows, batch)
        if self.form.trained_on == "cosine":
            users, items = normalize(rows.users, dim=1), normalize(rows.items, dim=1)
            return PairScores(pair_products(users, items, batch.user, batch.item), squares)
        of_users, of_items = self._sizes(parameters, chosen)
        clients = sizes_of(chosen[0].index_select(0, batch.user), self.users, len(of_users))
        scores = self.prediction.pairs(parameters, rows.users, rows.items, batch, Sizes(of_users, of_items, clients))
        return PairScores(scores, squares)

    def scorers(self, parameters: Parameters, block: RecBlock) -> list[Scorer]:
        """Return each packed client's f."""
        tables = self._everyone(parameters, block)
        owns = [{name: value[k] for name, value in parameters.items()} for k in range(len(tables))]
        return [self.prediction.scorer(own, *vectors) for own, vectors in zip(owns, tables, strict=True)]

    def trained_scorers(self, parameters: Parameters, block: RecBlock) -> list[Scorer]:
        """Return each packed client's scores as `forward` has them."""
        if self.form.trained_on == "mlp_angle":
            return self.scorers(parameters, block)
        return [InnerProduct(*(normalize(v, dim=1) for v in each)) for each in self._everyone(parameters, block)]

    def _everyone(self, parameters: Parameters, block: RecBlock) -> list[tuple[Tensor, Tensor]]:
        """Return H of all users [users, d] and of all items [items, d] of each packed client."""
        weight = parameters[f"{POOL}1.weight"]
        counts = len(weight) * self.users, len(weight) * self.items
        users, items = (torch.arange(count, device=weight.device) for count in counts)
        rows = self.pooled(parameters, block, (users, items))
        return list(zip(rows.users.split(self.users), rows.items.split(self.items), strict=True))
