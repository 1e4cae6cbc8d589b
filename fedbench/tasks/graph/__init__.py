"""Graph classification: a client holds many small graphs; loss is a batch's log-likelihood, metric accuracy."""
