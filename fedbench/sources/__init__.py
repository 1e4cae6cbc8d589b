"""Raw files: the catalogue of where they come from, and fetching with checksums."""
