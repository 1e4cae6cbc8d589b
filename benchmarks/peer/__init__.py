"""The peer that round costs are measured against: OpenFGL, in an environment of its own. See README.md."""
