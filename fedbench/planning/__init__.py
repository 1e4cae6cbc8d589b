"""What a suite will run: its jobs, which exist, and how long they will take. Imports neither torch nor pandas."""
