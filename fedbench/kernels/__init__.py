"""The few numerical kernels whose speed matters, each with a plain formula it equals."""
