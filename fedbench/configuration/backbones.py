"""Settings that only one backbone of recommendation has."""

from __future__ import annotations

from pydantic import Field

from fedbench.settings import Settings


class PinSageSettings(Settings):
    """PinSage: who a node's neighbours are, and how wide their mean is."""

    neighbours: int = Field(50, ge=1, description="T, the most visited nodes that are a node's neighbours; paper: 50")
    walks: int = Field(50, ge=1, description="random walks from every node; inferred, the paper gives no number")
    steps: int = Field(4, ge=1, description="of a walk; inferred: two hops of each kind reach users and items")
    hidden: int = Field(4, ge=1, description="width of the neighbours' mean, in d; NGCF's comparison: 4, the paper: 2")
    head: bool = Field(
        True,
        description="the paper's two dense layers behind the last convolution (algorithm 2); false: scores are "
        "products of unit vectors (descriptions of PinSage as a baseline mention no head)",
    )


class LCFNSettings(Settings):
    """LCFN: how many low frequencies its two hypergraphs keep."""

    users: int = Field(100, ge=1, description="F_u, of the user hypergraph; code: 100 on Electronics, 300 on ML-1M")
    items: int = Field(50, ge=1, description="F_i, of the item hypergraph; code: 50 on Electronics, 200 on ML-1M")
