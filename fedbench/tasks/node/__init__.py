"""Node classification: a client holds a subgraph; loss is cross-entropy on its training nodes, metric accuracy."""
