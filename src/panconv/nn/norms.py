"""PyG's two most common normalisations, for one trial or for S trials side by side, each normalised on its own."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from panconv.base.checks import as_number, checked_count, checked_positive, shown
from panconv.nn.own_nodes import Own, moments, normalised


class _Norm(nn.Module):
    """A normalisation with a trained scale and shift: (F,) each, or (S, F) for S trials."""

    def __init__(self, channels: int, trials: int | None, eps: float) -> None:
        super().__init__()
        checked_count(channels, "channels")
        self.shape = (channels,) if trials is None else (checked_count(trials, "trials"), channels)
        self.eps = checked_positive(eps, "eps")
        self.weight, self.bias = nn.Parameter(torch.ones(self.shape)), nn.Parameter(torch.zeros(self.shape))

    def reset_parameters(self) -> None:
        nn.init.ones_(self.weight)
        nn.init.zeros_(self.bias)

    def extra_repr(self) -> str:
        return f"{self.shape[-1]}, eps={self.eps}" + (f", trials={self.shape[0]}" if len(self.shape) > 1 else "")


class BatchNorm(_Norm):
    """PyG's `BatchNorm`: each feature by its mean and variance over the nodes.

    While training these are those of the nodes at hand; otherwise the running ones, which every training call moves by
    the share `momentum`. Where not all nodes at hand are a trial's own, those that are, `own`, make its mean and
    variance. A trial that has fewer than two of them takes the running ones and leaves them where they are.

    Shapes:
        x (N, F) → (N, F); with trials (N, S, F) → (N, S, F). own (N,) or (N, S): 1 where a node is a trial's
        own, else 0.
    """

    running_mean: Tensor
    running_var: Tensor
    track_running_stats = True  # as torch's norms say of themselves: `Stacked` keeps them by trial

    def __init__(self, channels: int, trials: int | None = None, eps: float = 1e-5, momentum: float = 0.1) -> None:
        super().__init__(channels, trials, eps)
        share = as_number(momentum)
        if share is None or not 0 <= share <= 1:
            raise ValueError(f"momentum must be a number of 0 … 1, got {shown(momentum)}")
        self.momentum = share
        self.register_buffer("running_mean", torch.zeros(self.shape))
        self.register_buffer("running_var", torch.ones(self.shape))

    def reset_parameters(self) -> None:
        super().reset_parameters()
        self.running_mean.zero_()
        self.running_var.fill_(1)

    def forward(self, x: Tensor, own: Tensor | Own | None = None) -> Tensor:
        if self.training and own is not None:
            return self._by_own(x, own if isinstance(own, Own) else Own.of(own, x.dtype))
        if self.training and x.size(0) == 1:
            raise ValueError(
                "norm 'batch' needs more than one node while training, got a graph of one: put graphs into a batch, "
                "or choose norm='layer'"
            )
        # A feature of a trial is a feature like any other, so S trials are one call on S·F of them.
        mean, var, weight, bias = (p.flatten() for p in (self.running_mean, self.running_var, self.weight, self.bias))
        out = F.batch_norm(x.flatten(1), mean, var, weight, bias, self.training, self.momentum, self.eps)
        return out.reshape(x.shape)

    def _by_own(self, x: Tensor, own: Own) -> Tensor:
        features = x.unsqueeze(1) if len(self.shape) == 1 else x  # (N, S, F)
        mean, var, weight, bias = (
            p.view(-1, p.size(-1)) for p in (self.running_mean, self.running_var, self.weight, self.bias)
        )
        found = moments(features, own, mean, var)
        with torch.no_grad():
            now = [each.to(mean.dtype) for each in (found.mean, found.var * own.unbiased)]
            torch._foreach_lerp_([mean, var], now, self.momentum)
        return normalised(features, own, found, weight, bias, self.eps).reshape(x.shape)


class LayerNorm(_Norm):
    """PyG's `LayerNorm`: all features of a graph by their common mean and deviation, or those of each node by theirs.

    Args:
        channels: F.
        trials: S, or None.
        eps: keeps the division finite.
        mode: ``"graph"``, PyG's default, or ``"node"``.

    Shapes:
        x (N, F) → (N, F); with trials (N, S, F) → (N, S, F). batch (N,) tells which of the graphs a node is in.
    """

    def __init__(self, channels: int, trials: int | None = None, eps: float = 1e-5, mode: str = "graph") -> None:
        super().__init__(channels, trials, eps)
        if mode not in ("graph", "node"):
            raise ValueError(f"mode must be 'graph' or 'node', got {shown(mode)}")
        self.mode = mode

    def forward(self, x: Tensor, batch: Tensor | None = None, batch_size: int | None = None) -> Tensor:
        if x.numel() == 0:  # of which there is no mean
            return x
        if self.mode == "node":
            out = F.layer_norm(x, x.shape[-1:], eps=self.eps)
        elif batch is None:
            centred = x - x.mean((0, -1), keepdim=True)
            out = centred / (centred.std((0, -1), correction=0, keepdim=True) + self.eps)
        else:
            out = self._by_graph(x, batch, int(batch.max()) + 1 if batch_size is None else batch_size)
        return (out * self.weight + self.bias).to(x.dtype)

    def _by_graph(self, x: Tensor, batch: Tensor, graphs: int) -> Tensor:
        """Each graph by itself; as in PyG, eps then stands under the root."""
        x = x.to(torch.promote_types(x.dtype, torch.float32))  # sums of half precision
        count = x.new_zeros(graphs).index_add(0, batch, x.new_full((x.size(0),), x.size(-1))).clamp(min=1)

        def mean(values: Tensor) -> Tensor:
            """Over the nodes and features of each graph, for each of its nodes: (N, 1), or (N, S, 1)."""
            sums = values.new_zeros(graphs, *values.shape[1:-1]).index_add(0, batch, values.sum(-1))
            return (sums / count.reshape(-1, *[1] * (sums.dim() - 1))).index_select(0, batch).unsqueeze(-1)

        centred = x - mean(x)
        return centred / (mean(centred.square()) + self.eps).sqrt()
