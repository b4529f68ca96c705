"""Localisation: on a lattice with a few edges missing, paths gather where none is missing.

python examples/localisation.py [localisation.png]
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch

from panconv import MET, Adjacency, PowerLaw, Walks
from panconv.paper.studies.localisation import draw_localisation


def lattice(side: int, missing: float) -> tuple[Adjacency, torch.Tensor]:
    """A square torus without a share of its edges, and where its nodes are."""
    nodes = torch.arange(side * side).reshape(side, side)
    edges = torch.cat([torch.stack([nodes.flatten(), nodes.roll(1, dim).flatten()]) for dim in (0, 1)], dim=1)
    edges = edges[:, torch.rand(edges.size(1), generator=torch.Generator().manual_seed(0)) >= missing]
    place = torch.stack(torch.meshgrid(torch.arange(side), torch.arange(side), indexing="xy"), dim=-1)
    return Adjacency.from_edge_index(torch.cat([edges, edges.flip(0)], dim=1), num_nodes=side**2), place.reshape(-1, 2)


def main(plot: str | None = None) -> list[float]:
    spreads = []
    for missing in (0.0, 0.15):
        adj, place = lattice(18, missing)
        M = MET(Walks(adj, L=1000), PowerLaw(1000, temperature=100.0, trained=False), method=1)
        # At the end of long paths the walker stands where the Perron vector is large: the effective number of nodes.
        shares = M.T @ torch.full((adj.num_nodes,), 1 / adj.num_nodes)
        effective = float((-(shares * shares.log()).sum()).exp())
        spreads.append(float(M.path_entropy.max() - M.path_entropy.min()))
        print(f"{missing:.0%} of the edges missing: path entropy spans {spreads[-1]:.2f}, messages come from an")
        print(f"  effective {effective:.0f} of {adj.num_nodes} nodes")
    if plot:
        draw_localisation(M, "A square lattice without 15 % of its edges", Path(plot), place)
        print(f"plot: {plot}")
    return spreads


if __name__ == "__main__":
    main(*sys.argv[1:2])
