"""Lanczos with full re-orthogonalisation, under autograd."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from panconv.base.checks import as_integer, check_device, kind_of, shown
from panconv.base.tracing import is_transforming, may_look
from panconv.spectral.operator import Operator, as_operator, check_symmetric


class Lanczos(NamedTuple):
    """M Q ≈ Q T with orthonormal columns Q and T tridiagonal; a basis for each of B start vectors.

    Once the Krylov space is exhausted the further columns of Q are 0, and so are their α and β.
    """

    alpha: Tensor  # (steps, …): the diagonal of T
    beta: Tensor  # (steps − 1, …): beside it
    Q: Tensor  # (N, steps, …)

    def tridiagonal(self) -> Tensor:
        """T, (…, steps, steps)."""
        alpha, beta = self.alpha.movedim(0, -1), self.beta.movedim(0, -1)
        side = torch.diag_embed(beta, offset=1)
        return torch.diag_embed(alpha) + side + side.mT


def lanczos(M: Operator | Tensor, x: Tensor, steps: int) -> Lanczos:
    """The Lanczos basis of a symmetric operator, from the start x: T = QᵀMQ on the space of x, Mx, … M^(steps−1)x.

    Every vector is orthogonalised against all before it, twice, so that no ghost copies of eigenvalues appear.
    Gradients flow to x and to whatever M depends on. Where the space is exhausted before `steps` (β vanishes to
    rounding, as in a component smaller than `steps`), what follows is 0, in values and in gradients.

    Args:
        M: a symmetric `Operator`, such as `MET` of methods 2, 5, 6, 9 on an undirected graph, or a symmetric matrix.
            Its own word for it, `is_symmetric`, is believed.
        x: the start, (N,), or (N, B) for B starts side by side, each with a basis of its own.
        steps: the size of the basis, 1 … N.

    >>> path = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    >>> found = lanczos(MET(Walks(path, L=1), [0.0, 1.0], method=5), torch.tensor([1.0, 0.0, 0.0]), steps=2)
    >>> found.tridiagonal()
    tensor([[0.5000, 0.4082],
            [0.4082, 0.3333]])
    """
    if not isinstance(x, Tensor) or x.dtype not in (torch.float32, torch.float64):
        kind = x.dtype if isinstance(x, Tensor) else kind_of(x)
        raise TypeError(f"x must be a float32 or float64 tensor, got {kind}: convert it with .float()")
    M = as_operator(M, x.dtype)
    check_symmetric(M)
    N = M.shape[0]
    _check_start(x, N)
    check_device(x.device, M.device, "M is")
    count = as_integer(steps)
    if count is None or not 1 <= count <= N:
        raise ValueError(f"steps must be an integer from 1 to the number of nodes, {N}, got {shown(steps)}")
    start = x.unsqueeze(1) if x.dim() == 1 else x
    alphas, betas = [], []
    # The vectors found so far, as rows (B, j, N): written in place where no derivative or batch may be asked for.
    in_place = not torch.is_grad_enabled() and not is_transforming()
    room = start.new_empty(start.size(1), count if in_place else 0, N)
    rows = room[:, :0]
    q, _ = _normalize(start.T, torch.zeros_like(start[0]))  # (B, N)
    scale = torch.zeros_like(start[0])
    for step in range(count):
        if in_place:
            room[:, step] = q
        rows = room[:, : step + 1] if in_place else torch.cat([rows, q.unsqueeze(1)], 1)
        w = (M @ q.T.reshape(x.shape)).reshape(start.shape).T
        scale = torch.maximum(scale, _normalize(w.detach(), torch.zeros_like(scale))[1])
        alphas.append((q * w).sum(1))
        if step + 1 < count:
            q, beta = _normalize(_orthogonal(_orthogonal(w, rows), rows), 1e3 * torch.finfo(x.dtype).eps * scale)
            betas.append(beta)
    Q = rows.permute(2, 1, 0).reshape(N, count, *x.shape[1:])
    alpha, beta = torch.stack(alphas), torch.stack(betas) if betas else x.new_zeros(0, start.size(1))
    return Lanczos(alpha.reshape(count, *x.shape[1:]), beta.reshape(count - 1, *x.shape[1:]), Q)


def _orthogonal(w: Tensor, rows: Tensor) -> Tensor:
    """w − Q Qᵀw for each of the B, of w (B, N) and the rows of Qᵀ (B, j, N)."""
    overlap = rows @ w.unsqueeze(2)  # (B, j, 1)
    return w - (overlap.mT @ rows).squeeze(1)


def _check_start(x: Tensor, N: int) -> None:
    if x.dim() not in (1, 2) or x.size(0) != N:
        raise ValueError(f"x must be (N,) or (N, B) with N = {N}, a start per column, got shape {tuple(x.shape)}")
    if N and may_look() and not bool(((x != 0).any(0) & x.isfinite().all(0)).all()):
        raise ValueError("x must be finite and not 0 throughout: no space grows from such a start")


def _normalize(w: Tensor, least: Tensor) -> tuple[Tensor, Tensor]:
    """w / ‖w‖ and ‖w‖ for w (B, N), both 0 where ‖w‖ is at most `least`; no gradient ever divides by 0."""
    largest = w.detach().abs().amax(1)
    unit = torch.exp2(largest.where(largest > 0, 1).log2().round())  # squares of w itself may leave the range
    w = w / unit.unsqueeze(1)
    square = (w * w).sum(1)
    alive = square > (least / unit) ** 2
    norm = square.where(alive, 1.0).sqrt()
    return (w / norm.unsqueeze(1)).where(alive.unsqueeze(1), 0.0), (unit * norm).where(alive, 0.0)
