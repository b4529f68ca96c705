"""A deep model as it evaluates, float64, its layers all in one form: linear, but for the gates of their activations.

    z = Σₙ Mₙ·h·Wₙ + h·R + H₀·Q + b,        h' = s ⊙ act(z) + t

Dropout is off, a batch norm is a scale and a shift, and a residual to the features (GCNII) is a matrix of its own.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from panconv.graph import Adjacency
from panconv.met import MET
from panconv.nn.norms import BatchNorm
from panconv.nn.pan_conv import PANConv
from panconv.nn.residual import InputConv
from panconv.paths import family_of
from panconv.training.models import PAN

Act = Callable[[Tensor], Tensor] | None
_GATES = (nn.ReLU, nn.LeakyReLU, nn.RReLU, nn.PReLU, nn.Identity)  # a factor per value, as it evaluates
_GATE_FUNCTIONS = (torch.relu, nn.functional.relu, nn.functional.leaky_relu)


class Layer(NamedTuple):
    """One convolution and what stands around it."""

    M: MET
    maps: Tensor  # Wₙ, (L+1, F, H), or (1, F, H) where all lengths share one
    beside: Tensor | None  # R, (F, H)
    first: Tensor | None  # Q, (H, H)
    shift: Tensor  # b, (H,)
    act: Act
    scale: Tensor  # s, (H,)
    offset: Tensor  # t, (H,)


class Unrolled(NamedTuple):
    """A model of one trial on a graph. The first layer hears H₀ = act(x·W + b), if there is a `start`, and else x."""

    start: tuple[Tensor, Tensor, Act] | None
    layers: list[Layer]
    readout: list[Tensor | None]  # of each layer, (H, C): what its output adds to the scores; None for nothing
    shift: Tensor  # (C,), of the scores
    largest: bool  # whether of all layers the one counts, feature by feature, whose value is the largest

    @staticmethod
    def of(model: PAN, adj: Adjacency) -> Unrolled:
        """Of a model that `seed_of` gave."""
        f = 1 - model.entrance.drop_nodes.p  # type: ignore[operator]  # a number, of one trial
        start: tuple[Tensor, Tensor, Act] | None = None
        if model.start is not None:
            start, f = (f * model.start.weight, model.start.bias, model.act), 1.0
        layers = [_layer(model, i, f if i == 0 else 1.0, adj) for i in range(model.num_layers)]
        return Unrolled(start, layers, *_readout(model), largest=model.jk_mode == "max")


def seeds_of(model: PAN) -> list[PAN]:
    """The trials of a model, each by itself, in float64."""
    check_explainable(model)
    alone = [copy.deepcopy(model)] if model.trials is None else [model.trial(s) for s in range(model.trials)]
    return [each.cpu().double().eval().requires_grad_(False) for each in alone]


def check_explainable(model: PAN) -> None:
    """Refuses what does not become linear when its gates stay as they are."""
    for norm in (*model.norms, model.entrance.norm):
        if not isinstance(norm, (nn.Identity, BatchNorm)):
            raise ValueError(
                f"explain adds up what nodes and features add to a score, but norm {type(norm).__name__} divides by a "
                "deviation that all of them make together: train with norm='batch' or without one, or head='linear'"
            )
    act = model.act
    if not (act is None or isinstance(act, _GATES) or act in _GATE_FUNCTIONS):
        name = getattr(act, "__name__", type(act).__name__)
        raise ValueError(
            f"explain adds up what nodes and features add to a score, but act {name} is curved: train with act='relu', "
            "or head='linear'"
        )
    if model.jk_mode == "lstm":
        raise ValueError("explain does not take apart jk='lstm', which is curved: train with jk='cat', 'max' or 'last'")
    for conv in model.layers():
        if not (family_of(conv.paths).counts_steps or getattr(conv.weights, "is_additive", False)):
            raise ValueError(
                f"explain tells what paths of n steps add, but paths {conv.paths!r} are counted by effective length: "
                "use alpha = 1, fixed, or other paths"
            )


def _layer(model: PAN, i: int, f: float, adj: Adjacency) -> Layer:
    """Layer i, on features that are multiplied by f."""
    conv = model.layers()[i]
    averaged = i == 0 and model.entrance.averaged  # what evaluates takes means, which are not scaled
    maps, first, shift = _convolution(conv, 1.0 if averaged else f)
    beside: Tensor | None = f * model.residuals[i].weight if model.residuals else None  # type: ignore[assignment,operator]
    if i == 0 and isinstance(model.entrance.norm, BatchNorm):
        scale, offset = _affine(model.entrance.norm)
        shift = shift + offset @ conv.lin.weight
        maps = maps * scale.unsqueeze(1)
    H = maps.size(-1)
    act, scale, offset = model.act, shift.new_ones(H), shift.new_zeros(H)
    if i == model.num_layers - 1 and model.jk_mode is None:  # these are the scores
        act = None
    elif isinstance(norm := model.norms[i], BatchNorm):
        scale, offset = _affine(norm)
        if not model.act_first:
            maps, shift = maps * scale, shift * scale + offset
            beside, first = (None if each is None else each * scale for each in (beside, first))
            scale, offset = torch.ones_like(scale), torch.zeros_like(offset)
    M = conv.met(conv.seen(adj, None, adj.num_nodes))
    return Layer(M, maps, beside, first, shift, act, scale, offset)


def _convolution(conv: PANConv, f: float) -> tuple[Tensor, Tensor | None, Tensor]:
    """Wₙ, Q and b."""
    W: Tensor = conv.lin.weight
    H = conv.out_channels
    if isinstance(conv, InputConv):
        share, beta = float(conv.share), float(conv.beta)
        W = (1 - beta) * torch.eye(H, dtype=W.dtype) + beta * W
        return (f * (1 - share) * W).unsqueeze(0), share * W, W.new_zeros(H)
    maps = f * W.unflatten(-1, (-1, H)).transpose(0, 1)
    return maps, None, W.new_zeros(H) if conv.bias is None else conv.bias


def _affine(norm: BatchNorm) -> tuple[Tensor, Tensor]:
    """The scale and the shift that a batch norm is when it evaluates."""
    scale = norm.weight / (norm.running_var + norm.eps).sqrt()
    return scale, norm.bias - norm.running_mean * scale


def _readout(model: PAN) -> tuple[list[Tensor | None], Tensor]:
    """What the output of each layer adds to the scores, and what is added to these for every node."""
    layers: int = model.num_layers
    if model.lin is None:
        eye = torch.eye(model.out_channels, dtype=torch.float64)
        return [*[None] * (layers - 1), eye], eye.new_zeros(len(eye))
    A: Any = model.lin.weight
    if model.jk_mode == "cat":
        return list(A.chunk(layers)), model.lin.bias
    return [*[A if model.jk_mode == "max" else None] * (layers - 1), A], model.lin.bias
