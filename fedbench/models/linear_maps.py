"""Linear maps as networks declare them."""

from __future__ import annotations

from fedbench.models.parameters import Parameter, fan_in_uniform


def linear_parameters(name: str, incoming: int, width: int, private: bool = False) -> dict[str, Parameter]:
    """Declare a linear map, stored [in, out], that starts as torch's."""
    start = fan_in_uniform(incoming)
    return {
        f"{name}.weight": Parameter((incoming, width), start, private),
        f"{name}.bias": Parameter((width,), start, private),
    }
