"""Networks as pure functions of a stack of parameters."""
