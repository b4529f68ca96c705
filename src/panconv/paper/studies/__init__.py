"""What the paper says in passing, measured."""
