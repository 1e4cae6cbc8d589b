"""FedSSP's network for user-item graphs: LGCN with filters read off the eigenvalues, and preference vectors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from torch import Tensor

from fedbench.kernels.bipartite import Rows
from fedbench.kernels.low_pass import LowPass
from fedbench.models.eigenvalue_encoder import EigenvalueEncoder
from fedbench.models.lgcn import LGCN
from fedbench.models.parameters import Parameter, Parameters, zeros
from fedbench.models.ranking import PairBatch, RecBlock
from fedbench.models.vectors import ITEMS, USERS, VectorNetwork

USER_PREFERENCE, ITEM_PREFERENCE = "preference.users", "preference.items"


@dataclass(frozen=True)
class SpectralPreferences(LGCN):
    """Final vectors are LGCN's plus one vector for all users and one for all items of the client, both private.

    ``encoder`` gives the kernels k^(l) that LGCN trains freely. ``preferences``: whether there are such vectors.
    """

    encoder: EigenvalueEncoder
    preferences: bool = True

    def parameters(self) -> Mapping[str, Parameter]:
        """Declare the tables, the preferences (from 0) and the encoder."""
        own = Parameter((self.model.hidden_widths[0],), zeros, private=True)
        preferences = dict.fromkeys((USER_PREFERENCE, ITEM_PREFERENCE), own) if self.preferences else {}
        return {**VectorNetwork.parameters(self), **preferences, **self.encoder.parameters()}

    def rows(self, parameters: Parameters, batch: PairBatch) -> Rows:
        """Return the final vectors of the rows that a batch touches, and those of layer 0."""
        return self.personal(self.common_rows(parameters, batch), parameters, batch)

    def common_rows(self, parameters: Parameters, batch: PairBatch) -> Rows:
        """Return `rows` without preferences."""
        return super().rows(parameters, batch)

    def personal(self, rows: Rows, parameters: Parameters, batch: PairBatch) -> Rows:
        """Return the rows with preferences added."""
        if not self.preferences:
            return rows
        of_user, of_item = self.owners(batch)
        users = rows.users + parameters[USER_PREFERENCE].index_select(0, of_user)
        return rows._replace(users=users, items=rows.items + parameters[ITEM_PREFERENCE].index_select(0, of_item))

    def owners(self, batch: PairBatch) -> tuple[Tensor, Tensor]:
        """Return the packed client of each user and item that a batch touches."""
        return batch.user_rows // self.users, batch.item_rows // self.items

    def tables(self, parameters: Parameters, block: RecBlock) -> tuple[Tensor, Tensor]:
        """Return the final vectors of everyone, [clients, users, d] and [clients, items, d]."""
        users, items = super().tables(parameters, block)
        if not self.preferences:
            return users, items
        return users + parameters[USER_PREFERENCE].unsqueeze(1), items + parameters[ITEM_PREFERENCE].unsqueeze(1)

    def _filtered(self, parameters: Parameters, basis: LowPass) -> Tensor:
        """Return LGCN's sum over layers, with the encoder's kernels."""
        present = (basis.users != 0).any(1) | (basis.items != 0).any(1)
        kernels = self.encoder.kernels(parameters, basis.frequencies, present).unbind(2)
        named = {f"kernel{layer}.weight": kernel for layer, kernel in enumerate(kernels, 1)}
        return super()._filtered({USERS: parameters[USERS], ITEMS: parameters[ITEMS], **named}, basis)
