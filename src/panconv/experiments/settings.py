"""One table of training settings: the paper's (appendix, "Experimental settings"), and where ours must differ.

The paper gives one weight decay a graph: 5e-3, 1e-2, 3e-3. With it the methods that sum over k(n) reproduce its
figures. An operator that is divided by Z (methods 1, 2, 7) averages, so it returns smaller numbers, and the same
decay then shrinks the layer to nothing (Method 2 on Citeseer falls below 50 %): there we take GCN's 5e-4.

Trained path weights start alike for every length: k(n) = 1/(L+1), or E(n) = 0.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from panconv.met import METHODS


@dataclass(frozen=True)
class Settings:
    """How a PAN is trained."""

    hidden: int = 16
    layers: int = 2
    lr: float = 0.01
    dropout: float = 0.5
    weight_decay: float = 5e-4  # on the first layer's matrix
    epochs: int = 200
    patience: int = 50


PAPER: dict[str, Settings] = {
    "cora": Settings(weight_decay=5e-3),
    "citeseer": Settings(weight_decay=1e-2),
    "pubmed": Settings(weight_decay=3e-3, dropout=0.4, epochs=100, patience=15),
}
_DECAY_UNDER_Z = 5e-4


def settings(dataset: str, method: int) -> Settings:
    """The settings of a method on a graph; a graph of the user's own gets GCN's."""
    chosen = PAPER.get(dataset, Settings())
    return replace(chosen, weight_decay=_DECAY_UNDER_Z) if METHODS[method].overall else chosen
