"""`LanczosConv`: LanczosNet's layer on the symmetrised MET."""

from __future__ import annotations

import json
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch_geometric.nn.inits import reset

from panconv.base.checks import as_integer, checked_count, checked_seed, shown
from panconv.base.random import keys, uniform
from panconv.compute.features import SparseRows
from panconv.graph import Adjacency
from panconv.met import MET
from panconv.met.methods import check_one_trial, check_similar
from panconv.met.reach import WHOLE, Reach
from panconv.nn.linear import Linear
from panconv.nn.on_paths import OnPaths
from panconv.nn.refusals import check_numbers
from panconv.spectral import Ritz, ritz


class LanczosConv(OnPaths):
    r"""The layer of LanczosNet (Liao et al., "LanczosNet: Multi-Scale Deep Graph Convolutional Networks", 2019) on the
    symmetrically normalised MET matrix, as Section 3 of the paper suggests

    .. math:: \mathbf{X}' = \sum_{s \in \text{short}} \mathbf{M}^s \mathbf{X} \mathbf{W}_s
        + \sum_{p \in \text{long}} \mathbf{V} f_p(\mathbf{R}) \mathbf{V}^\top \mathbf{X} \mathbf{W}_p + \mathbf{b}

    which is the concatenation of all scales through one W. Short scales are products with M; long ones go through the
    Ritz values R and vectors V of a few Lanczos steps, with f a small network that sees the powers Rᵖ, p in `long`, of
    one Ritz value at a time. Path weights are trained through Lanczos: M is never diagonalised.

    The start of Lanczos is random and tied to the numbering of the nodes by the seed, so that, as in LanczosNet, the
    long scales of a renumbered graph differ unless `steps` exhausts the graph. V spans one Krylov space: of equal
    eigenvalues, such as components alike bring, it sees one combination.

    Args:
        in_channels: features of a node, or -1 to take them from the first call.
        out_channels: features of a node afterwards.
        L: the longest path length of M.
        method: 2, 5, 6, 9, or 1, 7, 8, 10, 11, in whose place the symmetric S of M = Z^−½ S Z^½ stands.
        weights: path weights as in `PANConv`; None for the method's natural kind, trained.
        steps: of Lanczos; at most N are taken.
        short: the powers of M that are applied as products.
        long: the powers that go through the Ritz pairs.
        hidden: width of the network f; None for no network, fₚ(R) = Rᵖ.
        bias: whether to add a trained bias.
        seed: of the start.
        paths: which paths are counted, as in `PANConv`.
        loops, repeats: how self-loops and repeated edges are read, as in `PANConv`.

    Shapes:
        x (N, F) → (N, O), or (N, …, F) → (N, …, O). x may be a torch sparse tensor (N, F).

    >>> conv = LanczosConv(16, 7, steps=3)
    >>> conv(torch.randn(3, 16), torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])).shape
    torch.Size([3, 7])
    """

    explains_edges = False

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        L: int = 2,
        method: int = 2,
        weights: object = None,
        steps: int = 20,
        short: Sequence[int] = (1, 2),
        long: Sequence[int] = (5, 10),
        hidden: int | None = 32,
        bias: bool = True,
        seed: int = 0,
        paths: str = "walks",
        *,
        loops: str | None = None,
        repeats: str | None = None,
    ) -> None:
        super().__init__()
        check_similar(method)
        self.specify(L, method, weights, paths, loops=loops, repeats=repeats)
        check_one_trial(self.weights)
        self.steps, self.seed = checked_count(steps, "steps"), checked_seed(seed)
        self.short, self.long = _scales(short, "short"), _scales(long, "long")
        if not self.short and not self.long:
            raise ValueError("short and long are both empty: give at least one scale, such as short=(1,)")
        self.out_channels = checked_count(out_channels, "out_channels")
        self.lin = Linear(in_channels, (len(self.short) + len(self.long)) * out_channels)
        self.filter: nn.Module = nn.Identity()
        if hidden is not None and self.long:
            E, width = len(self.long), checked_count(hidden, "hidden")
            self.filter = nn.Sequential(nn.Linear(E, width), nn.ReLU(), nn.Linear(width, E))
        self.bias = nn.Parameter(torch.zeros(out_channels)) if bias else None

    def reset_parameters(self) -> None:
        super().reset_parameters()
        reset(self.filter)

    def convolve(self, x: Tensor | SparseRows, adj: Adjacency) -> Tensor:
        check_numbers(self, adj)
        M = self.met(adj).similar()[0]
        parts = self.lin(x).unflatten(-1, (-1, self.out_channels)).unbind(-2)  # X W for each scale
        out = torch.zeros_like(parts[0])
        if self.short:
            out = out + self._near(M, dict(zip(self.short, parts[: len(self.short)], strict=True)))
        if self.long and adj.num_nodes:
            out = out + self._far(self.ritz(M, adj), torch.stack(parts[len(self.short) :], -1))
        return out

    def ritz(self, M: MET, adj: Adjacency) -> Ritz:
        """The Ritz pairs of M in float64, kept with the graph where the path weights are fixed."""

        def find() -> Ritz:
            start = uniform(keys(torch.tensor(self.seed, device=adj.device)), (adj.num_nodes,)).double() - 0.5
            return ritz(M, start, min(self.steps, adj.num_nodes))

        if any(p.requires_grad for p in self.weights.parameters()):
            return find()
        key = ("ritz", self.steps, self.seed, self.L, self.method, self.paths, json.dumps(self.weights.spec()))
        return adj.cached(key, find)

    def _near(self, M: MET, parts: dict[int, Tensor]) -> Tensor:
        """Σₛ Mˢ Yₛ by Horner's scheme."""
        powers = sorted(parts, reverse=True)
        total = parts[powers[0]]
        for s in range(powers[0] - 1, -1, -1):
            total = M.apply(total)
            if s in parts:
                total = total + parts[s]
        return total

    def _far(self, states: Ritz, parts: Tensor) -> Tensor:  # parts (N, …, O, E)
        """Σₚ V fₚ(R) Vᵀ Yₚ."""
        wide = torch.float64 if parts.dtype == torch.float64 else torch.float32
        powers = torch.stack([states.values**p for p in self.long], -1)  # (steps, E)
        f = self.filter(powers.to(self.lin.weight.dtype)).to(wide)
        V = states.vectors.to(wide)
        seen = torch.tensordot(V.T, parts.to(wide), dims=1)  # (steps, …, O, E)
        seen = seen * f.reshape(f.size(0), *[1] * (parts.dim() - 2), f.size(1))
        return torch.tensordot(V, seen.sum(-1), dims=1).to(parts.dtype)

    def reach(self, stored: bool = False) -> Reach:
        """Its Ritz pairs are those of the whole graph."""
        return WHOLE

    def extra_repr(self) -> str:
        words = f"{self.lin.in_channels}, {self.out_channels}, L={self.L}, method={self.method}, steps={self.steps}"
        return f"{words}, short={self.short}, long={self.long}{self.reading.words()}"


def _scales(powers: Sequence[int], name: str) -> tuple[int, ...]:
    found = [as_integer(p) for p in powers] if isinstance(powers, (list, tuple, range)) else [None]
    if any(p is None or p < (name == "long") for p in found) or len(set(found)) < len(found):
        least = 1 if name == "long" else 0
        raise ValueError(f"{name} must be different integers of at least {least}, powers of M, got {shown(powers)}")
    return tuple(p for p in found if p is not None)
