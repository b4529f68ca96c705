"""A preset's trials side by side against the public way: PyG modules, one trial after another.

    python benchmarks/presets.py [--graphs cora pubmed] [--device cuda] [--trials 100] [--peer-trials 2] [--epochs 200]

On a CPU, where PyG's side takes seconds per epoch, there are fewer of all three unless they are said.

Both sides train the same model for the same number of epochs in one process: random propagation with the preset's
lengths, path weights, drops, draws and batch norms. PyG's side has its normalised edges once and takes a step of
`LGConv` per length; it propagates the features first, as the published code does, or, where the preset's features go
through W first, both ways: that is shown in a line of its own. Where the preset looks at some nodes at a step (its
setting `nodes`), PyG's side looks at all of them, as the published code does; ours is then measured both ways. An epoch
of both is a training step and an evaluation on the validation nodes. The time is per trial; ours has in it all that
`fit` does before and after the epochs.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from measure import machine
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.nn import BatchNorm, LGConv
from torch_geometric.nn.conv.gcn_conv import gcn_norm

from panconv import PAN, load
from panconv.training.pans import batch_size
from panconv.training.recipe import Recipe
from panconv.weights import weights_from

GOAL = 5.0
SIZES = {
    "cpu": {"trials": 4, "peer_trials": 1, "epochs": 10},
    "cuda": {"trials": 100, "peer_trials": 2, "epochs": 200},
}


class RandomPropagation(nn.Module):
    """The published model in PyG's modules, of the settings of a preset."""

    def __init__(self, inputs: int, classes: int, how: dict[str, Any], k: list[float], weigh_first: bool) -> None:
        super().__init__()
        self.how, self.k, self.weigh_first = how, k, weigh_first
        self.has_hidden = how.get("jk") is not None  # whether there is a hidden layer
        self.first = nn.Linear(inputs, how["hidden"] if self.has_hidden else classes)
        self.last = nn.Linear(how["hidden"], classes) if self.has_hidden else nn.Identity()
        self.norm_input = BatchNorm(inputs) if how.get("norm_input") else nn.Identity()
        self.norm = BatchNorm(how["hidden"]) if how.get("norm") and self.has_hidden else nn.Identity()
        self.step = LGConv(normalize=False)

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor) -> Tensor:
        delta = self.how.get("drop_nodes", 0.0)
        scale = 1 if self.how.get("averaged") else 1 - delta
        kept = torch.rand(x.size(0), 1, device=x.device) >= delta if self.training else scale
        p = self.how.get("dropout_input")
        p = self.how["dropout"] if p is None else p
        if self.how.get("averaged"):  # a column of ones goes along, and divides the sums
            x = torch.cat([x, x.new_ones(x.size(0), 1)], 1)
        x = x * kept
        if self.weigh_first:
            x = self._propagated(self.first(F.dropout(x, p, self.training)), edge_index, edge_weight)
        else:
            x = self._propagated(x, edge_index, edge_weight)
            if self.how.get("averaged"):
                x = x[:, :-1] / x[:, -1:].clamp(min=1e-12)
            x = self.first(F.dropout(self.norm_input(x), p, self.training))
            if not self.has_hidden:
                return x
        x = self.norm(x.relu()) if self.how.get("act_first") else self.norm(x).relu()
        return self.last(F.dropout(x, self.how["dropout"], self.training))

    def _propagated(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor) -> Tensor:
        total = self.k[0] * x
        for weight in self.k[1:]:
            x = self.step(x, edge_index, edge_weight)
            total = total + weight * x
        return total


def loss_of(scores: list[Tensor], y: Tensor, train: Tensor, how: dict[str, Any], step: int) -> Tensor:
    """Cross entropy, and how far each draw is from the sharpened mean of all, which counts more from step to step."""
    p = torch.stack([each.softmax(-1) for each in scores])
    mean = p.mean(0).detach()
    sharp = mean ** (1 / how["sharpening"])
    sharp = sharp / sharp.sum(-1, keepdim=True)
    sure = mean.amax(-1) >= how.get("confidence", 0.0)
    known = torch.stack([F.cross_entropy(each[train], y[train]) for each in scores]).mean()
    ramp = min(1.0, step / how["ramp"]) if how.get("ramp") else 1.0
    return known + ramp * how["consistency"] * ((p - sharp).square().sum(-1) * sure).mean()


def pyg_trial(data: Data, how: dict[str, Any], k: list[float], weigh_first: bool, epochs: int, seed: int) -> float:
    """One training; the lowest validation loss, which a script looks at each epoch."""
    torch.manual_seed(seed)
    device, classes = data.x.device, int(data.y.max()) + 1
    model = RandomPropagation(data.num_features, classes, how, k, weigh_first).to(device)
    matrices = {each.weight for each in (model.first, model.last) if isinstance(each, nn.Linear)}
    others = [each for each in model.parameters() if each not in matrices]
    decays = [
        {"params": list(matrices), "weight_decay": how["weight_decay"]},
        {"params": others, "weight_decay": how.get("decay_others", 0.0)},
    ]
    optimizer = torch.optim.Adam(decays, lr=how["lr"])
    edge_index, edge_weight = gcn_norm(data.edge_index, None, data.num_nodes)
    graph, best = (edge_index, edge_weight), float("inf")
    known, some = data.train_mask.nonzero().squeeze(1), how.get("labelled")
    for step in range(1, epochs + 1):
        model.train()
        optimizer.zero_grad()
        train = known if some is None else known[torch.randperm(len(known), device=device)[:some]]
        loss_of([model(data.x, *graph) for _ in range(how["draws"])], data.y, train, how, step).backward()
        if how.get("clip") is not None:
            nn.utils.clip_grad_norm_(model.parameters(), how["clip"])
        optimizer.step()
        model.eval()
        with torch.no_grad():
            scores = model(data.x, *graph)
            best = min(best, F.cross_entropy(scores[data.val_mask], data.y[data.val_mask]).item())
    return best


def compared(name: str, device: str, trials: int, peer_trials: int, epochs: int) -> Iterator[tuple[str, float, float]]:
    """What is compared, and its seconds per trial on both sides."""
    recipe = PAN.preset(name)
    how, operator = dict(recipe.settings), recipe.operator
    how |= {"epochs": epochs, "patience": epochs}
    if operator["method"] != (7 if how.get("averaged") else 5):
        raise ValueError(f"preset {name!r} is of method {operator['method']}, which PyG's side does not have")
    data, sparse = load(name).to(device), load(name, sparse=True)
    k = weights_from(operator["weights"], operator["L"])().tolist()
    whole = {"nodes": None, "nearest": None}
    ours = {"ours": _ours(recipe.but(**how), sparse, device, trials)}
    if how.get("nodes"):
        ours["ours at all nodes"] = _ours(recipe.but(**{**how, **whole}), sparse, device, min(trials, peer_trials))
    for weigh_first in (False, True) if not how.get("propagate") else (False,):
        pyg_trial(data, how, k, weigh_first, 3, 0)  # to warm up
        run = [partial(pyg_trial, data, how, k, weigh_first, epochs, seed) for seed in range(peer_trials)]
        theirs = sum(_seconds(each, device) for each in run) / peer_trials
        way = "W first" if weigh_first else "features propagated first"
        yield from ((f"{way}, {mine}", seconds, theirs) for mine, seconds in ours.items())


def _ours(recipe: Recipe, data: Data, device: str, trials: int) -> float:
    """Seconds per trial, in batches that fit memory."""
    at_once = min(trials, batch_size(data, recipe, device))
    rest = [range(i, min(i + at_once, trials)) for i in range(0, trials, at_once)]
    return sum(_seconds(partial(recipe.fit, data, seeds=seeds, device=device), device) for seeds in rest) / trials


def _seconds(function: Any, device: str) -> float:
    began = time.perf_counter()
    function()
    if device.startswith("cuda"):
        torch.cuda.synchronize()
    return time.perf_counter() - began


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--graphs", nargs="+", default=["cora", "citeseer", "pubmed"])
    parser.add_argument("--device", default="cpu")
    for name in SIZES["cpu"]:
        parser.add_argument(f"--{name.replace('_', '-')}", type=int)
    args = parser.parse_args(arguments)
    usual = SIZES["cpu" if args.device == "cpu" else "cuda"]
    sizes = {name: getattr(args, name) or value for name, value in usual.items()}
    print(machine())
    for name in args.graphs:
        for way, ours, theirs in compared(name, args.device, **sizes):
            ratio = theirs / ours
            said = "" if args.device == "cpu" else ", goal met" if ratio >= GOAL else f", goal of {GOAL:g} not met"
            print(
                f"{name}, PyG with {way}: {theirs:.2f} s per trial and {ours:.3f} s, {ratio:.1f} times faster{said}",
                flush=True,
            )


if __name__ == "__main__":
    main()
