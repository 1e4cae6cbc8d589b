"""Run records: what one training job leaves, its schema, and checks of what is there."""
