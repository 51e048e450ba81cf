"""Running one contender in a process of its own, and choosing what counts of several runs."""
