"""What a client's data, loss and metric are, per task."""
