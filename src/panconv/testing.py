"""Laws that an operator or a layer obeys, as assertions: for our tests, and for yours.

`assert_operator(M)` holds a `panconv.spectral.Operator` (its `to_sparse()` too, where it has one) to the laws of a
linear map and to its word; `assert_equivariant(layer, …)` holds a layer to the symmetry of a graph.
"""

from __future__ import annotations

import copy
from collections.abc import Callable

import torch
from torch import Tensor

from panconv.spectral.operator import Operator, checked_operator

_TOLERANCE = 1e-9


def assert_operator(M: Operator, *, device: str | torch.device = "cpu", trials: int | None = None) -> None:
    """Holds an operator to its laws, in float64.

    Args:
        M: the operator; parameters that it depends on must be float64 where gradients are to be checked.
        device: where it lives.
        trials: S, where the operator acts on (N, S, …) with a matrix per trial.
    """
    checked_operator(M)
    N = M.shape[1]
    middle = () if trials is None else (trials,)

    def random(*shape: int) -> Tensor:
        return torch.randn(*shape, dtype=torch.float64, device=device)

    dense = M.to_dense(torch.float64)
    _assert_word(M, dense, torch.device(device))
    rule = "nm,m...->n..." if trials is None else "snm,ms...->ns..."

    # `@` is the dense form's product, whatever trails behind the nodes.
    for shape in [(N, *middle), (N, *middle, 3), (N, *middle, 2, 3)]:
        x = random(*shape)
        close(M @ x, torch.einsum(rule, dense, x))

    # Linear.
    x, y = random(N, *middle, 2), random(N, *middle, 2)
    close(M @ (2.5 * x - y), 2.5 * (M @ x) - M @ y)

    # The adjoint identity <Mx, y> = <x, Mᵀy>, the transposed dense form, and Mᵀᵀ = M.
    close(((M @ x) * y).sum(), (x * (M.T @ y)).sum())
    close(M.T.to_dense(torch.float64), dense.mT)
    close(M.T.T @ x, M @ x)

    for operator, formed in ((M, dense), (M.T, dense.mT)):
        if trials is None and hasattr(operator, "to_sparse"):
            close(operator.to_sparse(torch.float64).to_dense(), formed)

    if N:  # gradcheck refuses empty inputs
        x.requires_grad_()
        assert torch.autograd.gradcheck(lambda x: M @ x, x)
        assert torch.autograd.gradcheck(lambda y: M.T @ y, y.requires_grad_())


def _assert_word(M: Operator, dense: Tensor, device: torch.device) -> None:
    """Holds what an operator says of itself to its dense form, (N, N) or (S, N, N)."""
    assert tuple(M.shape) == tuple(dense.shape[-2:]) == tuple(M.T.shape)
    assert M.device.type == device.type, f"M says that it is on {M.device}"
    assert M.dtype.is_floating_point
    if M.is_symmetric:
        close(dense, dense.mT)
    assert M.components.shape == (M.shape[0],)
    apart = M.components.unsqueeze(1) != M.components
    assert not bool((dense[..., apart] != 0).any()), "nodes of different components mix"


def assert_gradients(function: Callable[[], Tensor], *tensors: Tensor) -> None:
    """Holds the gradients of a function of tensors that it closes over, such as parameters, to finite differences."""
    for tensor in tensors:
        assert tensor.dtype == torch.float64, f"gradients are checked in float64, got {tensor.dtype}"
    # gradcheck moves its inputs in place, so the function sees them move.
    assert torch.autograd.gradcheck(lambda *_: function(), tensors)


def assert_equivariant(
    layer: Callable[..., Tensor],
    x: Tensor,  # (N, …)
    edge_index: Tensor,  # (2, E)
    edge_weight: Tensor | None = None,
    *,
    rtol: float = 1e-4,
    atol: float = 1e-5,
) -> None:
    """Renumbering the nodes renumbers the layer's output, and the order of the edges does not matter."""
    node = torch.randperm(x.size(0), device=x.device)  # new number → old number
    new = node.argsort()
    edge = torch.randperm(edge_index.size(1), device=x.device)
    moved = copy.deepcopy(layer)(x[node], new[edge_index][:, edge], None if edge_weight is None else edge_weight[edge])
    torch.testing.assert_close(moved, layer(x, edge_index, edge_weight)[node], rtol=rtol, atol=atol)


def close(a: Tensor, b: Tensor) -> None:
    """Equal to the precision of float64."""
    torch.testing.assert_close(a, b, rtol=_TOLERANCE, atol=_TOLERANCE)
