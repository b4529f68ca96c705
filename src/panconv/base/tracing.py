"""What is under way, a derivative, a transform, a trace or a recording, and what may be done meanwhile."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor
from torch.autograd import forward_ad


def may_look(value: Tensor | None = None) -> bool:
    """Whether a value may be looked at from the host: not while a step is traced, transformed or recorded.

    On the meta device there is none to look at.
    """
    if torch.compiler.is_compiling() or is_transforming() or (value is not None and value.is_meta):
        return False
    return not (torch.cuda.is_initialized() and torch.cuda.is_current_stream_capturing())


def lasting() -> AbstractContextManager[object]:
    """A context whose tensors serve training later, though it may be entered at inference."""
    return torch.inference_mode(False) if torch.is_inference_mode_enabled() else nullcontext()


def is_tracked(value: Tensor) -> bool:
    """Whether anyone may ask for its derivative: by reverse mode, forward mode, or a transform under way."""
    return value.requires_grad or is_transforming() or forward_ad.unpack_dual(value).tangent is not None


def is_transforming() -> bool:
    """Whether a torch.func transform is under way: its tensors must not outlive it."""
    return torch._C._functorch.peek_interpreter_stack() is not None


def is_batched(gradient: Tensor) -> bool:
    """Whether a gradient stands for many, as with ``torch.autograd.grad(…, is_grads_batched=True)``."""
    return is_transforming() or torch._C._functorch.is_legacy_batchedtensor(gradient)


def is_differentiating() -> bool:
    """Whether forward mode or a torch.func transform is under way."""
    return forward_ad._current_level >= 0 or is_transforming()
