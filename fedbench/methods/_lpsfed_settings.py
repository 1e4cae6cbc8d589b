"""Settings of LPSFed. [paper]: its text, by a reading note; [code]: its released program; the rest is inferred."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from fedbench.settings import Settings


class BiasSettings(Settings):
    """Codes of popularity and their own contrastive loss (equation 7)."""

    pop_code: Literal["distinct_degree", "buckets"] = Field(
        "distinct_degree",
        description="what has a code of its own: each degree that occurs in training (BC loss), or each of eleven "
        "ranges of degrees [code, which then looks codes up by user and item number]",
    )
    tau: float = Field(0.08, gt=0, description="temperature tau_2 [code]")
    weight: float = Field(0.5, ge=0, le=1, description="w in w L_bias + (1 - w) L_BC [BC loss; the code has 0]")
    warmup_epochs: int = Field(5, ge=0, description="first local epochs, of L_bias alone [BC loss; the code has none]")
    frozen: bool = Field(True, description="codes stay as they are after the warm-up [BC loss; not in the code]")


class MarginSettings(Settings):
    """Margins (equations 8, 10, 14, 15)."""

    gamma: float = Field(1.0, ge=0, description="strength [paper: best]")
    omega: float = Field(0.5, ge=0, le=1, description="share of the server's margin in a pair's [code]")
    detach: bool = Field(True, description="no gradient through margins; inferred, the code has one")
    mean: Literal["all_pairs", "last_batch"] = Field(
        "all_pairs", description="M_c: over all users and items [paper], or the last batch's positive pairs [code]"
    )
    update: Literal["personal", "average"] = Field(
        "personal", description="what comes back: rho M + (1 - rho) M_c [paper], or M for everyone [code]"
    )


class SimilaritySettings(Settings):
    """How near a client's spectrum is to the anchor graph's."""

    signature: Literal["eigvals", "filtered"] = Field(
        "eigvals", description="K_c: the lowest eigenvalues; inferred. filtered: times the last layer's kernel [code]"
    )
    kl_normalize: Literal["sum", "softmax", "hist", "raw"] = Field(
        "sum",
        description="how K becomes a distribution: over its sum, by softmax, as a histogram over [0, 1], or not at "
        "all; inferred (the code: a histogram of one bin, as a density)",
    )
    epsilon: float = Field(1e-12, gt=0, description="added to K for sum and raw: the first eigenvalue is 0; inferred")
    bins: int = Field(32, ge=2, description="of the histogram, one count added to each; inferred")
    phi_pad: Literal["truncate_all_to_min", "ones"] = Field(
        "truncate_all_to_min",
        description="clients with fewer than Phi eigenvalues under 1: all compare as many as the fewest has, or the "
        "rest counts as 1, which it is; inferred",
    )
    zeros: Literal["kept", "dropped"] = Field(
        "kept",
        description="eigenvalues 0, one for each connected component; inferred. kept: their logarithm is that of "
        "epsilon, so a client of several components is far from all others. dropped: those below 1e-6 are left out",
    )
    scale: Literal["minmax", "max"] = Field(
        "minmax", description="rho bar: 1 - (rho - min) / (max - min) [paper], or 1 - rho / max [code]"
    )


class AnchorSettings(Settings):
    """The random user-item graph that clients are compared with."""

    kind: Literal["gnmk", "er", "fixed"] = Field(
        "gnmk",
        description="clients' mean users, items and pairs: exactly [paper], or pairs by chance; fixed: sizes below",
    )
    sizes: tuple[int, int, int] = Field(
        (1000, 1000, 10000), description="users, items, pairs where kind is fixed; inferred, the paper states none"
    )
    refresh: Literal["round", "once"] = Field("round", description="drawn every round [paper], or once [code]")

    @model_validator(mode="after")
    def _fits(self) -> AnchorSettings:
        users, items, pairs = self.sizes
        if not 0 < pairs <= users * items:
            raise ValueError("anchor.sizes must be users, items and at most users x items pairs")
        return self


class LPSFedSettings(Settings):
    """Settings of LPSFed. Width, layers and Phi are the model's: model.width, layers, embedding.frequencies."""

    convolution: Literal["lgcn", "ngcf", "lightgcn"] = Field("lgcn", description="layers in front of the pooling")
    pool_mlp_layers: int = Field(1, ge=1, description="of the pooling network [code, which calls it MLP3]")
    pred_mlp_layers: int = Field(1, ge=1, description="of the prediction network [code, likewise]")
    train_score: Literal["mlp_angle", "cosine"] = Field(
        "mlp_angle",
        description="cos R in the loss: tanh f [paper], or the cosine of pooled vectors [code, which still ranks by f]",
    )
    loss: Literal["bc", "bpr"] = Field("bc", description="bias-aware contrastive, or BPR on f without margins")
    reduction: Literal["sum", "mean"] = Field(
        "sum", description="over a batch's pairs: as equation 9 has it, or their mean [code; its BPR is a sum]"
    )
    tau: float = Field(0.07, gt=0, description="temperature of the loss [code]")
    personalised: bool = Field(True, description="false: rho bar is 1 for everyone")
    bias: BiasSettings = Field(BiasSettings(), description="codes of popularity and their loss")
    margin: MarginSettings = Field(MarginSettings(), description="margins of pairs and of clients")
    similarity: SimilaritySettings = Field(SimilaritySettings(), description="from spectra to rho bar")
    anchor: AnchorSettings = Field(AnchorSettings(), description="the random graph that clients are compared with")

    @property
    def margins(self) -> bool:
        """Whether there are margins and codes at all."""
        return self.loss == "bc"

    @model_validator(mode="after")
    def _fits(self) -> LPSFedSettings:
        if self.similarity.signature == "filtered" and self.convolution != "lgcn":
            raise ValueError("similarity.signature 'filtered' needs the kernels of convolution 'lgcn'")
        return self
