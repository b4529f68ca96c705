"""A disk that is full after so many bytes."""

import resource
from contextlib import contextmanager


@contextmanager
def largest_file(size):
    """No file grows beyond so many bytes, as if the disk were full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
