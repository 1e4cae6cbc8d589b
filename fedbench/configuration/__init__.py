"""What the YAML files under ``configs/`` say, as typed settings. Imports neither torch nor pandas."""
