"""The plain programs, one file a method, found by name."""
