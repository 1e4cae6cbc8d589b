"""FedPer: shared base layers, personal head (Arivazhagan et al., arXiv 1912.00818, algorithm 1)."""

from __future__ import annotations

from fedbench.methods._weighted_average import WeightedAverage, WeightedSettings


class FedPer(WeightedAverage[WeightedSettings]):
    """The graph convolutions are averaged; the classifier never leaves the client."""

    Settings = WeightedSettings
    source = "Arivazhagan et al., Federated learning with personalization layers, arXiv 1912.00818"

    def shares(self, parameter: str) -> bool:
        """Share the base layers (masks never)."""
        return super().shares(parameter) and not parameter.startswith("classifier.")
