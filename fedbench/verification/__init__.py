"""Trust in records: inspect what is there, admit what outside programs wrote, retrain a sample and compare."""
