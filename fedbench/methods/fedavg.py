"""FedAvg: the server averages what the clients trained (McMahan et al., AISTATS 2017, algorithm 1)."""

from __future__ import annotations

from fedbench.methods._weighted_average import WeightedAverage, WeightedSettings


class FedAvg(WeightedAverage[WeightedSettings]):
    """The average, and nothing else."""

    Settings = WeightedSettings
    source = "McMahan et al., Communication-efficient learning of deep networks from decentralized data, AISTATS 2017"
