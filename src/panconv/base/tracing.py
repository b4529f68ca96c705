"""What is under way, a derivative, a transform, a trace or a recording, and what may be done meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, TypeVar

import torch
from torch import Tensor
from torch.autograd import forward_ad

T = TypeVar("T")
NO_TORCHSCRIPT = (
    "TorchScript (torch.jit, and torch.onnx.export with dynamo=False) would keep what is computed of this one graph: "
    "use torch.export.export(model, (x, adj)) with an Adjacency, or panconv.nn.to_onnx"
)
_HOLD_AN_ADJACENCY = (
    "a graph cannot be prepared inside of a trace: make adj = panconv.Adjacency.from_edge_index(edge_index, "
    "edge_weight, num_nodes) before it, and call the model with adj in place of edge_index"
)


def may_look(value: Tensor | None = None) -> bool:
    """Whether a value may be looked at from the host: not while a step is traced, transformed or recorded.

    On the meta device there is none to look at.
    """
    if torch.compiler.is_compiling() or is_transforming() or (value is not None and value.is_meta):
        return False
    return not is_recorded()


def is_recorded() -> bool:
    """Whether a GPU records what is done, to replay it later (a CUDA graph)."""
    return torch.cuda.is_initialized() and torch.cuda.is_current_stream_capturing()


def lasting() -> AbstractContextManager[object]:
    """A context whose tensors serve training later, though it may be entered at inference."""
    if torch.compiler.is_compiling() or not torch.is_inference_mode_enabled():
        return nullcontext()
    return torch.inference_mode(False)


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


def check_not_jit() -> None:
    """Refuses torch.jit.trace, which bakes in what was looked at and would be silently wrong on the next graph."""
    if torch.jit.is_tracing():  # type: ignore[attr-defined]
        raise ValueError(NO_TORCHSCRIPT)


def outside_a_trace(function: Callable[..., T], *args: Any) -> T:
    """function(*args), for which torch.compile breaks its graph; where that is not allowed, what to do instead."""
    if not torch.compiler.is_compiling():
        return function(*args)
    if not torch.compiler.is_dynamo_compiling():  # torch.export, which runs the code and cannot step out of it
        raise ValueError(_HOLD_AN_ADJACENCY)
    return _call_eagerly(function, *args)


def _call_eagerly(function: Callable[..., T], *args: Any) -> T:
    return function(*args)


try:
    _call_eagerly = torch.compiler.disable(_call_eagerly, reason=_HOLD_AN_ADJACENCY)
except TypeError:  # torch before 2.8 does not take a reason
    _call_eagerly = torch.compiler.disable(_call_eagerly)
