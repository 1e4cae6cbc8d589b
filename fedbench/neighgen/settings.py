"""Settings of NeighGen. Defaults follow the paper; where it is silent, the released configuration."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from fedbench.settings import Settings


class NeighGenSettings(Settings):
    """Settings of NeighGen; "released" is the authors' code, "config" its configuration file."""

    hidden_portion: float = Field(0.278, ge=0, lt=1, description="paper's h for Cora, 3 owners; config: 0.5")
    split: Literal["none", "generator"] = Field(
        "none",
        description="paper: hide among all nodes, losses over all that are kept. generator: released, a stratified "
        "60/20/20 split of its own; hides among the last 20%, losses over the first 60%",
    )
    labels: Literal["train", "generator"] = Field(
        "train",
        description="whose labels the classification loss reads: the training nodes', or, as released, those of the "
        "generator's 60%, which include labels of the task's test nodes",
    )
    row_scale: Literal["largest_one", "as_given"] = Field(
        "largest_one",
        description="features that NeighGen sees: each row with its largest entry scaled to 1, which are the 0/1 words "
        "of the released pipeline (it doesn't normalise), or as the data set has them",
    )
    predicted_neighbours: int = Field(5, ge=1, description="most generated neighbours of a node (paper and config)")
    counts: Literal["round", "truncate"] = Field(
        "round", description="predicted count to integer; released: round in LocSage+'s mending, else truncate"
    )
    encoder_width: int = Field(32, ge=1, description="hidden width of encoder and classifier (config: hidden)")
    latent: int = Field(128, ge=1, description="width of z (config: latent_dim)")
    generator_widths: tuple[int, int] = Field((256, 2048), description="hidden widths of fGen (released)")
    dropout: float = Field(0.5, ge=0, lt=1, description="in encoder, fGen and classifier (config)")
    learning_rate: float = Field(0.001, gt=0, description="Adam (paper and config)")
    weight_decay: float = Field(1e-4, ge=0, description="added to the gradient (config)")
    generator_epochs: int = Field(20, ge=0, description="local phase (paper and config: gen_epochs)")
    federated_epochs: int = Field(20, ge=0, description="federated phase (released: gen_epochs again)")
    federated: bool = Field(True, description="False: LocSage+, the local phase only")
    count_weight: float = Field(1.0, ge=0, description="lambda^d (paper: 1; config: a)")
    feature_weight: float = Field(1.0, ge=0, description="lambda^f (paper: 1; config: b)")
    class_weight: float = Field(1.0, ge=0, description="lambda^c (paper: 1; config: c)")
    cross_client_weight: float = Field(1.0, ge=0, description="alpha (paper: 1; released: b serves both terms)")
    cross_client: Literal["exact_minimum", "sampled"] = Field(
        "exact_minimum",
        description="paper: the nearest of all nodes of the other client; sampled: released, the nearest of up to "
        "5 drawn neighbours of a drawn node",
    )
    feature_distance: Literal["sum", "mean"] = Field(
        "sum", description="paper: squared norm; mean: released, divided by features x predicted_neighbours"
    )
    classifier_relu: bool = Field(False, description="True: released, ReLU on the logits")
    train_convolutions: bool = Field(
        True, description="False: the released code on a GPU, where graph convolutions keep their initial weights"
    )
    mended_nodes: Literal["kept", "all"] = Field(
        "kept", description="who gets neighbours: the nodes kept in the impaired graph (released), or every node"
    )
