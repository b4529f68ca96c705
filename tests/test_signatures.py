"""Public signatures may only grow: what a call could say, it can still say, and it means the same."""

import importlib
import inspect

import pytest

# Names below panconv, and their parameters in order, keywords alone behind the star; what is added later comes behind.
SIGNATURES = {
    "PANConv": "in_channels, out_channels, L=2, method=5, weights=None, "
    "paths='walks', bias=True, trials=None, concat=False, memory=None, *, loops=None, repeats=None",
    "PANPool": "channels, ratio=0.5, *, centrality='rows', number=None, edges='induced', L=2, method=2, weights=None, "
    "paths='walks', nonlinearity='tanh', multiplier=1.0, diagonal='auto', memory=None, loops=None, repeats=None",
    "PAN": "in_channels, hidden_channels, out_channels=None, num_layers=2, *, L=2, "
    "method=5, weights=None, paths='walks', dropout=0.5, bias=True, trials=None, memory=None, act='relu', "
    "act_first=False, act_kwargs=None, norm=None, norm_kwargs=None, jk=None, loops=None, repeats=None, concat=False, "
    "residual=None, inputs=None",
    "training.graph_models.PANGraph": "in_channels, hidden_channels, out_channels, num_layers=4, *, conv='pan', L=2, "
    "method=8, weights=None, paths='walks', concat=True, memory=None, loops=None, repeats=None, update='mlp', "
    "norm='batch', norm_kwargs=None, act='relu', act_kwargs=None, residual=None, pool=None, readout='sum', jk='cat', "
    "head='mlp', dropout=0.0, dropout_head=None, trials=None",
    "MET": "paths, weights=None, method=5, memory=None",
    "fit": "model, data, *, seeds=(0,), lr=0.01, "
    "weight_decay=0.0005, epochs=200, patience=50, keep='loss', device='cpu', callback=None, "
    "metric=None, val=None, test=None, decay_others=0.0, regularizer=None, cut=None",
    "PANClassifier": "head='auto', *, L=3, method=5, paths='walks', class_weight=None, cv=5, seeds=5, epochs=None, "
    "budget=None, random_state=0",
    "PANRegressor": "*, L=3, method=5, paths='walks', cv=5, random_state=0",
    "PathFeatures": "graph, X=None, L=3, method=5, paths='walks'",
    "METTransform": "L=2, method=2, weights=None, sparsify=None, laplacian=False, paths='walks'",
    "transforms.PrepareGraph": "method=5, name='adj', dtype=None, L=None, edge_weight='edge_weight', "
    "loops=None, repeats=None",
    "graph.block_diagonal": "graphs",
    "Adjacency.to": "self, device, non_blocking=False",
    "Walks": "adj, L",
    "ShortestPaths": "adj, L, memory_limit=None",
    "SelfAvoidingPaths": "adj, L, memory_limit=None",
    "EffectiveWalks": "adj, L, width=None",
    "Free": "k",
    "Fixed": "k",
    "Boltzmann": "energies, temperature=1.0",
    "PowerLaw": "L, alpha=1.0, temperature=1.0, trained=True",
    "eigs": "M, k",
    "lanczos": "M, x, steps",
    "grid_search": "data, points, settings=None, *, method=5, L=2, "
    "trials=5, seed=0, results=None, device='cpu', command='', callback=None",
    "training.search.search": "data, space='random-propagation', model='pan', *, settings=None, seeds=2, finalists=10, "
    "reruns=10, fresh=10, budget=None, seed=0, split=None, halving=(0.25, 0.5), results=None, device='cpu', "
    "command='', callback=None, trainer=None",
    "training.recipe.Recipe": "operator, settings",
    "training.spaces.Range": "low, high, log=False",
    "training.spaces.Choice": "values",
    "load": "source, *, name=None, normalize=True, sparse=False",
    "nn.PANAttention": "in_channels, out_channels, L=2, method=3, heads=1, paths='walks', bias=True, rank=0, "
    "*, loops=None, repeats=None",
    "nn.PANEdgeAttention": "in_channels, out_channels, L=2, heads=1, weights=None, bias=True, "
    "*, loops=None, repeats=None",
    "nn.LanczosConv": "in_channels, out_channels, L=2, method=2, weights=None, steps=20, short=(1, "
    "2), long=(5, 10), hidden=32, bias=True, seed=0, paths='walks', *, loops=None, repeats=None",
    "nn.SpectralConv": "in_channels, out_channels, k=32, L=2, method=2, "
    "weights=None, filter='polynomial', degree=3, bias=True, paths='walks', *, loops=None, repeats=None",
    "nn.HighTemperatureConv": "in_channels, out_channels, bias=True",
    "nn.AuthorsConv": "in_channels, out_channels, filter_size, code='pyg'",
    "nn.AuthorsPool": "in_channels, ratio=0.5, min_score=None, multiplier=1.0, nonlinearity='tanh', filter_size=None",
    "training.authors_pan.AuthorsPAN": "in_channels, out_channels, L=3, hidden_channels=64, ratio=0.5, dropout=0.5, "
    "code='authors'",
    "nn.Linear": "in_channels, out_channels, trials=None",
    "nn.Dropout": "p=0.5",
    "nn.DropNodes": "p=0.5",
    "training.consistency.Consistency": "draws=4, weight=1.0, sharpening=0.5",
    "nn.num_hops": "module, stored=False",
    "data.SeedLoader": "data, model, seeds=None, *, batch_size=1, shuffle=False, num_hops=None",
    "nn.Stacked": "make, in_channels, out_channels, *, trials, decay=''",
    "Adjacency.of": "source, edge_weight=None, num_nodes=None, *, loops=None, repeats=None",
    "Adjacency.from_edge_index": "edge_index, edge_weight=None, num_nodes=None, *, loops='add', repeats='one'",
    "Adjacency.from_sparse": "matrix, *, loops='add'",
    "spectral.HighTemperature": "adj",
    "spectral.Laplacian": "adj, complement=False",
    "spectral.band_response": "M, adj, bands=25, steps=300, starts=8, seed=0",
    "spectral.basis": "M, k",
    "spectral.cutoff": "M",
    "spectral.diagonal": "M, how='auto', *, probes=64, seed=0, groups=None",
    "spectral.dirichlet_energy": "adj, x, relative=False",
    "spectral.density": "M, steps=80, starts=32, seed=0, callback=None",
    "spectral.modes": "adj",
    "spectral.perron": "adj",
    "spectral.response": "M, basis",
    "spectral.ritz": "M, x, steps",
    "spectral.sufficient_length": "M, tolerance=0.001, longest=10000",
}


def parameters(text):
    """Name to default of a signature, those before the star and those behind it."""
    made = inspect.signature(eval(f"lambda {text}: None", {"inf": float("inf")}))
    ordered = [p for p in made.parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
    return ordered, [p for p in made.parameters.values() if p.kind is p.KEYWORD_ONLY]


def found(name):
    where, _, last = name.rpartition(".")
    room = importlib.import_module("panconv" if where in ("", "Adjacency") else f"panconv.{where}")
    return getattr(getattr(room, where) if where == "Adjacency" else room, last)


@pytest.mark.parametrize("name", SIGNATURES)
def test_a_signature_only_grows(name):
    now = inspect.signature(found(name)).parameters
    ordered, keywords = parameters(SIGNATURES[name])
    assert list(now)[: len(ordered)] == [p.name for p in ordered]
    for before in ordered + keywords:
        p = now[before.name]
        assert p.default == before.default, f"{name}({p})"
        assert p.kind in (before.kind, p.POSITIONAL_OR_KEYWORD)
    known = {p.name for p in ordered + keywords}
    new = [p for p in now.values() if p.name not in known and p.kind is not p.VAR_KEYWORD]
    assert all(p.default is not p.empty for p in new), "what is new has a default"
