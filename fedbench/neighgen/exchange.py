"""What the federated phase sends between clients, in numbers of 4 bytes.

Client i sends z_v and n~_v of the nodes with generated neighbours once to every other client j, since encoder and dGen
are frozen; in each epoch it sends fGen's weights, j computes its term and sends the gradient of those weights back.
"""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor

from fedbench.neighgen.settings import NeighGenSettings

BYTES_A_NUMBER = 4


def sent_for(nodes: int, parameters: Mapping[str, Tensor], others: int, settings: NeighGenSettings) -> dict[str, int]:
    """Return the bytes of the messages between one client and its ``others``, by what they carry; none without nodes.

    Args:
        nodes: nodes of the client with generated neighbours.
        parameters: the client's, by name.
        others: number of other clients.
        settings: of NeighGen.
    """
    if nodes == 0 or not settings.federated or settings.cross_client_weight == 0:
        return {"embeddings": 0, "weights": 0, "gradients": 0}
    generator = sum(p.numel() for name, p in parameters.items() if name.startswith("generator."))
    each_epoch = others * settings.federated_epochs * generator * BYTES_A_NUMBER
    embeddings = others * nodes * (settings.latent + 1) * BYTES_A_NUMBER
    return {"embeddings": embeddings, "weights": each_epoch, "gradients": each_epoch}
