"""Which accelerator a process may use. Imports nothing heavy, so that it can run before torch is imported."""
