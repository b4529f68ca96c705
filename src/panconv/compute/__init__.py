"""Sparse times dense, and sums of powers: the only room that knows the sparse layout."""
