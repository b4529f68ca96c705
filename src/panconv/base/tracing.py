"""What may be done while a step is traced, transformed or recorded."""

from __future__ import annotations

import torch

from panconv.base.autodiff import is_transforming


def may_look() -> bool:
    """Whether a value may be looked at from the host: not while a step is traced, transformed or recorded."""
    if torch.compiler.is_compiling() or is_transforming():
        return False
    return not (torch.cuda.is_initialized() and torch.cuda.is_current_stream_capturing())
