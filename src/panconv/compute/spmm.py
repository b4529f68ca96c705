"""The sparse product: the only place where sparse meets dense.

`spmm(a, a_t, x)` is A·x for a CSR matrix A given together with its transpose (which its backward needs), under
autograd (twice differentiable, in x and in the stored values), `torch.func.grad`, `vmap`, `jvp`, `torch.compile`
with fullgraph, and autocast.

There are two doors to one kernel, because no single way of registering an operator serves all of these: a
`torch.library` operator, whose backward the compiler traces but whose forward-mode derivative would silently be zero,
and an `autograd.Function` with `jvp` and `vmap` rules, which the compiler does not trace.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from panconv.base.tracing import is_batched, is_differentiating, is_transforming
from panconv.compute.kernels import entry_dots, multiply
from panconv.graph.csr import CSR, rows_of

_SMALL = 2**13  # a product of so many multiplications costs less than the call that makes it


def spmm(a: CSR, a_t: CSR, x: Tensor) -> Tensor:
    """A·x.

    Args:
        a: A, (R, C), with values of x's dtype.
        a_t: Aᵀ, (C, R); the very same as `a` where A is symmetric.
        x: (C, …), float32 or float64; on a GPU with Triton also float16 and bfloat16, added in float32.

    Returns:
        (R, …)
    """
    flat = x if x.dim() == 2 else x.flatten(1) if x.dim() > 1 else x.unsqueeze(1)  # (C, K)
    product: Callable[..., Tensor]
    if torch.compiler.is_compiling():
        product = torch.ops.panconv.spmm
    elif is_differentiating() or (torch.is_grad_enabled() and (x.requires_grad or a.value.requires_grad)):
        product = _SpMM.apply
    else:
        product = _kernel  # nothing will be asked about it, and a node of autograd takes longer than a small product
    return product(*a, *a_t, flat).reshape(a.crow.numel() - 1, *x.shape[1:])


def _kernel(
    crow: Tensor, col: Tensor, value: Tensor, crow_t: Tensor, col_t: Tensor, value_t: Tensor, x: Tensor
) -> Tensor:
    return multiply(crow, col, value, crow_t.numel() - 1, x)


def _entrywise(crow: Tensor, col: Tensor, g: Tensor, x: Tensor) -> Tensor:
    """The gradient of the stored values, <g[row], x[col]> per entry, which can be traced and differentiated again."""
    return (g[rows_of(crow, col.numel())] * x[col]).sum(-1)


def _backward(
    ctx: Any, g: Tensor, product: Callable[..., Tensor], entrywise: Callable[..., Tensor]
) -> tuple[Tensor | None, ...]:
    a, a_t, x = ctx.saved_tensors[:3], ctx.saved_tensors[3:6], ctx.saved_tensors[6]
    grad_value = entrywise(*a[:2], g, x) if ctx.needs_input_grad[2] else None
    grad_x = product(*a_t, *a, g) if ctx.needs_input_grad[6] else None
    return None, None, grad_value, None, None, None, grad_x


def _samples(each: Tensor, dim: int | None, count: int) -> Sequence[Tensor]:
    """The samples of what has been batched along a dimension, or the same for all."""
    return [each] * count if dim is None else each.unbind(dim)


class _SpMM(torch.autograd.Function):
    forward = staticmethod(_kernel)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, ...], output: Tensor) -> None:
        of_values = ctx.needs_input_grad[2] or is_transforming()
        ctx.save_for_backward(*inputs[:6], inputs[6] if of_values else None)  # x serves the values' gradient alone
        ctx.save_for_forward(*inputs)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor | None, ...]:
        if torch.is_grad_enabled() or is_differentiating() or is_batched(g):
            return _backward(ctx, g, _SpMM.apply, _entrywise)
        return _backward(ctx, g, _kernel, entry_dots)

    @staticmethod
    def jvp(ctx: Any, *tangents: Tensor | None) -> Tensor:
        a, a_t, x = ctx.saved_tensors[:3], ctx.saved_tensors[3:6], ctx.saved_tensors[6]
        dvalue, dvalue_t, dx = tangents[2], tangents[5], tangents[6]
        out = torch.zeros((), dtype=x.dtype, device=x.device)
        if dx is not None:
            out = out + _SpMM.apply(*a, *a_t, dx)
        if dvalue is not None:
            dvalue_t = a_t[2] if dvalue_t is None else dvalue_t
            out = out + _SpMM.apply(a[0], a[1], dvalue, a_t[0], a_t[1], dvalue_t, x)
        return out

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int | None, ...], *args: Tensor) -> tuple[Tensor, int]:
        crow, col, value, _, _, _, x = args
        if in_dims[2] is None and in_dims[5] is None:  # one matrix: the batch becomes more columns of one product
            assert in_dims[6] is not None
            stacked = x.movedim(in_dims[6], 1)  # (C, B, K)
            out = _SpMM.apply(*args[:6], stacked.flatten(1))
            return out.reshape(out.size(0), *stacked.shape[1:]), 1
        value = value.unsqueeze(0) if in_dims[2] is None else value.movedim(in_dims[2], 0)  # (B or 1, nnz)
        x = x.unsqueeze(0) if in_dims[6] is None else x.movedim(in_dims[6], 0)  # (B or 1, C, K)
        # A matrix per sample: one product after another, or where these are small, gather and sum of all at once.
        if col.numel() * x.size(2) > _SMALL:
            given = (_samples(each, dim, info.batch_size) for each, dim in zip(args, in_dims, strict=True))
            return torch.stack([_SpMM.apply(*one) for one in zip(*given, strict=True)]), 0
        messages = value.unsqueeze(-1) * x[:, col]  # (B, nnz, K)
        out = messages.new_zeros(messages.size(0), crow.numel() - 1, messages.size(2))
        return out.index_add(1, rows_of(crow, col.numel()), messages), 0


_library = torch.library.Library("panconv", "DEF")
_library.define(
    "spmm(Tensor crow, Tensor col, Tensor value, Tensor crow_t, Tensor col_t, Tensor value_t, Tensor x) -> Tensor"
)


def _recorded_kernel(
    crow: Tensor, col: Tensor, value: Tensor, crow_t: Tensor, col_t: Tensor, value_t: Tensor, x: Tensor
) -> Tensor:
    return multiply(crow, col, value, crow_t.numel() - 1, x, recorded=True)


_library.impl("spmm", _recorded_kernel, "CompositeExplicitAutograd")


@torch.library.register_fake("panconv::spmm", lib=_library)
def _fake(
    crow: Tensor, col: Tensor, value: Tensor, crow_t: Tensor, col_t: Tensor, value_t: Tensor, x: Tensor
) -> Tensor:
    return x.new_empty(crow.numel() - 1, x.size(1))


torch.library.register_autograd(
    "panconv::spmm",
    functools.partial(_backward, product=torch.ops.panconv.spmm, entrywise=_entrywise),
    setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs),
    lib=_library,
)
