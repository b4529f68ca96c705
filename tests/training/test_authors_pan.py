"""The network held against the authors' repository, restated, and against one of PyG's own layers and pools."""

import authors_repository
import pytest
import torch
from graphs import graphs
from hypothesis import given, settings
from hypothesis import strategies as st
from pyg_pan import running_without_torch_sparse
from torch_geometric.data import Batch, Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import PANConv, PANPooling, global_mean_pool

from panconv import Adjacency, fit
from panconv.testing import close
from panconv.training.authors_pan import AUTHORS_RUNS, AuthorsPAN


def small(*args, **options):
    """A network in float64 whose scores tell nodes apart: tanh of more than 20 is 1."""
    model = AuthorsPAN(*args, **options).double().eval()
    for pool in model.pools:
        torch.nn.init.uniform_(pool.beta, 0.01, 0.05)
    for conv in model.convs:
        torch.nn.init.uniform_(conv.weight, 0.1, 1.0)
    return model


def joined(several):
    edges = [Data(edge_index=graph.edge_index, num_nodes=graph.num_nodes) for graph in several]
    batch = Batch.from_data_list(edges)
    return torch.randn(batch.num_nodes, 3, dtype=torch.float64), batch.edge_index, batch.batch


BATCHES = st.lists(graphs(min_nodes=1, weighted=False), min_size=1, max_size=3)


@given(BATCHES, st.integers(0, 3))
@settings(max_examples=25)
def test_it_is_the_network_of_the_authors(several, L):
    model, given = small(3, 2, L=L, hidden_channels=8), joined(several)
    found, expected = model(*given), authors_repository.classify(model, *given)
    close(found, expected)
    parameters = [p for p in model.parameters() if p.requires_grad]
    mine, other = (
        torch.autograd.grad(scores.square().sum(), parameters, materialize_grads=True, allow_unused=True)
        for scores in (found, expected)
    )
    for a, b in zip(mine, other, strict=True):
        close(a, b)


@given(BATCHES, st.integers(0, 3))
@settings(max_examples=25)
def test_with_the_code_of_pyg_it_is_a_network_of_its_layers(several, L):
    model, (x, edge_index, batch) = small(3, 2, L=L, hidden_channels=8, code="pyg"), joined(several)
    found = model(x, edge_index, batch)
    with running_without_torch_sparse():
        for ours, width, steps, pool in zip(model.convs, (3, 8, 8), (L, 1, 1), model.pools, strict=True):
            conv, pooling = PANConv(width, 8, filter_size=steps).double(), PANPooling(8).double()
            conv.load_state_dict(ours.state_dict())
            pooling.load_state_dict(pool.state_dict())
            x, M = conv(x, edge_index)
            x, edge_index, _, batch, *_ = pooling(x, M, batch)
    x = global_mean_pool(x, batch)
    for lin in model.lins[:2]:
        x = lin(x).relu()
    close(found, model.lins[2](x))


@pytest.mark.parametrize("code", ["authors", "pyg"])
def test_a_batch_is_its_graphs_one_by_one_prepared_or_not(code):
    model = small(3, 2, hidden_channels=8, code=code)
    parts = [
        Data(torch.randn(n, 3).double(), torch.randint(n, (2, 3 * n)).unique(dim=1), num_nodes=n) for n in (4, 7, 1)
    ]
    batch = Batch.from_data_list(parts)
    together = model(batch.x, batch.edge_index, batch.batch)
    close(together, torch.cat([model(part.x, part.edge_index) for part in parts]))
    close(model(batch.x, Adjacency.of(batch.edge_index, None, batch.num_nodes), batch.batch), together)
    more = model(batch.x, batch.edge_index, batch.batch, batch_size=4)
    close(more[:3], together)
    close(more[3:], model.lins[2](model.lins[1](model.lins[0].bias.relu()).relu())[None])
    assert model(torch.zeros(0, 3).double(), torch.zeros(2, 0).long()).shape == (1, 2)


def rings_and_stars(count, seed):
    generator = torch.Generator().manual_seed(seed)
    made = []
    for i in range(count):
        n = int(torch.randint(6, 12, (), generator=generator))
        nodes = torch.arange(n)
        ends = torch.stack([nodes, (nodes + 1) % n]) if i % 2 else torch.stack([nodes[1:] * 0, nodes[1:]])
        made.append(Data(x=torch.ones(n, 1), edge_index=torch.cat([ends, ends.flip(0)], 1), y=torch.tensor([i % 2])))
    return made


def test_fit_trains_it_from_a_seed_and_its_weights_stay_within_bounds():
    run = AUTHORS_RUNS["PROTEINS"]
    train, val, test = (rings_and_stars(n, seed) for seed, n in enumerate((64, 16, 16)))
    loader = DataLoader(train, batch_size=8)  # more steps than in batches of 32
    others = {part: DataLoader(graphs, batch_size=16) for part, graphs in (("val", val), ("test", test))}

    def trained(epochs):
        model = AuthorsPAN(1, 2, L=run.L, hidden_channels=16, dropout=0.1)
        return fit(model, loader, seeds=[3], lr=run.lr, weight_decay=run.weight_decay, epochs=epochs, **others)

    result = trained(10)
    assert result.test_accuracy[0] > 0.9
    assert torch.equal(trained(2).history["val_loss"], result.history["val_loss"][:2])
    model = result.model
    weights = torch.cat([part.weight.detach() for part in (*model.convs, *model.pools)])
    assert bool(((weights >= 0) & (weights <= 1)).all())
    assert not torch.equal(weights, torch.full_like(weights, 0.5))


def test_several_seeds_are_to_be_given_one_by_one():
    with pytest.raises(ValueError, match="give fit one seed at a time"):
        fit(AuthorsPAN(1, 2), rings_and_stars(4, 0), val=rings_and_stars(2, 1), seeds=[0, 1], epochs=1)


def test_start_and_bad_input():
    model = AuthorsPAN(-1, 2, L=2)
    model(torch.randn(3, 5), torch.tensor([[0, 1], [1, 0]]))
    assert [conv.in_channels for conv in model.convs] == [5, 64, 64]
    assert [conv.filter_size for conv in model.convs] == [2, 1, 1]
    assert [pool.filter_size for pool in model.pools] == [2, 2, 2]
    assert [lin.out_features for lin in model.lins] == [32, 16, 2]
    before = model.lins[0].weight.clone()
    model.reset_parameters()
    assert not torch.equal(model.lins[0].weight, before)
    with pytest.raises(ValueError, match="hidden_channels must be an integer of at least 4"):
        AuthorsPAN(3, 2, hidden_channels=2)
    with pytest.raises(ValueError, match="code must be 'pyg' or 'authors'"):
        AuthorsPAN(3, 2, code="paper")
    with pytest.raises(ValueError, match="L must be at least 0"):
        AuthorsPAN(3, 2, L=-1)
    with pytest.raises(ValueError, match="ratio must be above 0"):
        AuthorsPAN(3, 2, ratio=-1)
