"""A range server in a process of its own, with latency and bandwidth, and what its log tells."""
