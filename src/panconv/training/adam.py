"""Adam for trials side by side: torch's own where they share its settings, ours where these differ by trial."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from panconv.base.by_trial import Numbers, checked_by_trial, differs, picked


class Rates(NamedTuple):
    """The settings of Adam, each a number or one per trial."""

    lr: Numbers
    weight_decay: Numbers
    decay_others: Numbers = 0.0

    @staticmethod
    def checked(lr: Any, weight_decay: Any, decay_others: Any, trials: int | None = None) -> Rates:
        """As floats, if they are sound, and as many as there are trials."""

        def sound(number: float) -> bool:
            return 0 <= number < math.inf

        return Rates(
            checked_by_trial(lr, "lr", lambda rate: 0 < rate < math.inf, "positive and finite", trials),
            checked_by_trial(weight_decay, "weight_decay", sound, "at least 0 and finite", trials),
            checked_by_trial(decay_others, "decay_others", sound, "at least 0 and finite", trials),
        )

    def narrowed(self, rows: Sequence[int]) -> Rates:
        """Those of some trials alone."""
        return Rates(*(picked(each, rows) for each in self))


def adam(model: Any, lr: Any, weight_decay: Any, device: torch.device, decay_others: Any = 0.0) -> Optimizer:
    """Adam with weight decay on what the model says, and another on the rest.

    Args:
        model: whose parameters are to be trained, (S, …) each where it has S trials.
        lr, weight_decay, decay_others: a number, or S.
        device: where the model is.
    """
    rates = Rates.checked(lr, weight_decay, decay_others, model.trials or 1)
    decayed = model.decayed()
    those = set(map(id, decayed))
    others = [p for p in model.parameters() if id(p) not in those]
    groups: list[dict[str, Any]] = [
        {"params": params, "weight_decay": decay}
        for params, decay in ((decayed, rates.weight_decay), (others, rates.decay_others))
        if params
    ]
    if any(map(differs, rates)):
        return TrialAdam(groups, rates.lr)
    for group in groups:
        group["weight_decay"] = _shared(group["weight_decay"])
    return torch.optim.Adam(groups, lr=_shared(rates.lr), fused=True, capturable=device.type == "cuda")


def _shared(numbers: Numbers) -> float:
    """What all trials have."""
    return numbers[0] if isinstance(numbers, tuple) else numbers


class TrialAdam(Optimizer):
    """torch's Adam with a step size and a weight decay for each trial.

    All that changes is changed in place and nothing is looked at, so that a step can be recorded as a CUDA graph.

    Args:
        params: parameters (S, …), or groups of them, which may have a `weight_decay` of their own.
        lr: the step size, a number or S.
        betas, eps: as in `torch.optim.Adam`.
        weight_decay: a number or S; added to the gradient, times the parameter.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: Numbers = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: Numbers = 0.0,
    ) -> None:
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay})
        self.resting: Tensor | None = None  # (S,), the trials that the next step is none for, where there are such

    @torch.no_grad()
    def step(self, closure: Any = None) -> Any:
        """One step for each parameter that has a gradient."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        resting, self.resting = self.resting, None
        for group in self.param_groups:
            for those in self._lots(group):
                if resting is None:
                    self._update(those, group)
                else:
                    self._update_but(resting, those, group)
        return loss

    def _update_but(self, resting: Tensor, params: list[nn.Parameter], group: dict[str, Any]) -> None:
        """A step of the other trials: those that rest have afterwards what they had before, and their own count."""
        states = [self._state(p, group) for p in params]
        moved = [*params, *(state[name] for state in states for name in ("exp_avg", "exp_avg_sq"))]
        before, count = [each.clone() for each in moved], states[0]["step"]
        if not count.dim():
            count = count.repeat(len(resting))
            for state in states:
                state["step"] = count
        self._update(params, group)
        count -= resting.to(count.dtype)
        for each, kept in zip(moved, before, strict=True):
            each.copy_(torch.where(resting.reshape(-1, *[1] * (each.dim() - 1)), kept, each))

    def _lots(self, group: dict[str, Any]) -> list[list[nn.Parameter]]:
        """The parameters that have a gradient, in lots of one dtype that have had the same steps and share their count:
        torch takes such a list in one launch."""
        holders, lots = Counter[int](), defaultdict(list)
        for p in group["params"]:
            count = id(self.state.get(p, {}).get("step"))
            holders[count] += 1
            if p.grad is not None:
                lots[p.dtype, count].append(p)
        for (_, count), lot in lots.items():
            held = self.state.get(lot[0], {}).get("step")
            if held is not None and len(lot) == holders[count]:
                continue
            own = torch.zeros((), device=lot[0].device) if held is None else held.clone()
            for p in lot:
                self.state[p]["step"] = own
        return list(lots.values())

    def _update(self, params: list[nn.Parameter], group: dict[str, Any]) -> None:
        """`torch.optim.Adam`'s formulas, on all parameters of a lot at a time."""
        states = [self._state(p, group) for p in params]
        means, squares, rates, decays = ([each[name] for each in states] for name in _BESIDE)
        first, second = group["betas"]
        weights: list[Tensor] = list(params)
        grads = torch._foreach_addcmul([p.grad for p in params if p.grad is not None], weights, decays)
        torch._foreach_lerp_(means, grads, 1 - first)
        torch._foreach_mul_(squares, second)
        torch._foreach_addcmul_(squares, grads, grads, 1 - second)
        step = states[0]["step"].add_(1).double()  # 1 − 0.999ⁿ needs the digits
        divisors = torch._foreach_sqrt(squares)
        torch._foreach_mul_(divisors, _for_each(params, (1 - second**step).rsqrt()))
        torch._foreach_add_(divisors, group["eps"])
        torch._foreach_mul_(divisors, _for_each(params, 1 - first**step))
        torch._foreach_addcdiv_(weights, torch._foreach_mul(means, rates), divisors, -1)

    def _state(self, p: nn.Parameter, group: dict[str, Any]) -> dict[str, Tensor]:
        """What is kept of a parameter, made at its first step; the settings too, one beside each of its numbers."""
        state = self.state[p]
        if "exp_avg" not in state:
            state["exp_avg"], state["exp_avg_sq"] = torch.zeros_like(p), torch.zeros_like(p)
        if "lr" not in state:
            state["lr"], state["weight_decay"] = (_beside(group[name], p) for name in ("lr", "weight_decay"))
        return state


def told_apart(optimizer: Optimizer) -> TrialAdam:
    """An optimizer that goes on where torch's stands, and can take a step that is none for some of the trials."""
    if isinstance(optimizer, TrialAdam):
        return optimizer
    groups = [{name: group[name] for name in ("params", "weight_decay")} for group in optimizer.param_groups]
    made, counts = TrialAdam(groups, optimizer.param_groups[0]["lr"]), dict[float, Tensor]()
    for p, state in optimizer.state.items():
        step = counts.setdefault(float(state["step"]), state["step"].clone().to(p.device))
        made.state[p] = {"step": step, **{name: state[name] for name in ("exp_avg", "exp_avg_sq")}}
    return made


def _for_each(params: list[nn.Parameter], factor: Tensor) -> Any:
    """A factor of all numbers, (), or of each trial's, (S,), in their dtype and as it broadcasts with each."""
    factor = factor.to(params[0].dtype)
    return [factor.reshape(-1, *[1] * (p.dim() - 1)) for p in params] if factor.dim() else factor


_BESIDE = ("exp_avg", "exp_avg_sq", "lr", "weight_decay")


def _beside(numbers: Numbers, p: Tensor) -> Tensor:
    """A number for each of a parameter's, that of its trial."""
    each = torch.tensor(numbers, dtype=p.dtype, device=p.device)
    return torch.empty_like(p).copy_(each.reshape(-1, *[1] * (p.dim() - 1)) if each.dim() else each)
