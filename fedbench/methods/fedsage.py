"""FedSage: federated averaging of GraphSAGE classifiers (Zhang et al., NeurIPS 2021, section 3.2)."""

from __future__ import annotations

from fedbench.configuration.protocol import TrainingSettings
from fedbench.errors import ConfigurationError
from fedbench.methods.base import Method, NoSettings


class FedSage(Method[NoSettings]):
    """GraphSAGE on every client, averaged uniformly; what the clients can't see of the graph stays missing."""

    source = "Zhang et al., Subgraph federated learning with missing neighbor generation, NeurIPS 2021"

    def __init__(self, settings: NoSettings, training: TrainingSettings) -> None:
        super().__init__(settings, training)
        require_sage(training, "FedSage")


def require_sage(training: TrainingSettings, method: str) -> None:
    """Check that the backbone is GraphSAGE.

    Raises:
        ConfigurationError: it isn't.
    """
    if training.model.backbone != "sage":
        raise ConfigurationError(
            f"train {method}",
            found=f"backbone '{training.model.backbone}'",
            allowed="sage",
            remedy="set `training: {model: {backbone: sage}}` in the method's variant or in the protocol",
        )
