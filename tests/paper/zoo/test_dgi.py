"""DGI learns, without labels, to tell the nodes of the graph from those with the features of others."""

import pytest
import torch
import torch.nn.functional as F
from rings import two_rings

from panconv import Adjacency
from panconv.base.random import keys, words
from panconv.compute.features import SparseRows
from panconv.compute.spmm import spmm
from panconv.paper.zoo import METHODS, dgi, trainer
from panconv.paper.zoo.dgi import Infomax, trained

HOW = {**METHODS["dgi"].settings, "width": 16, "lr": 0.01, "epochs": 200}


def communities(N=60):
    """Two groups with words of their own and edges within."""
    group = torch.arange(2 * N) // N
    A = torch.rand(2 * N, 2 * N) < torch.where(group[:, None] == group, 0.15, 0.005)
    edges = (A | A.T).fill_diagonal_(False).nonzero().T
    x = (torch.rand(2 * N, 10) < torch.where((torch.arange(10) < 5) == group[:, None].bool(), 0.6, 0.1)).float()
    return SparseRows.of(x.to_sparse_csr()), Adjacency.of(edges, None, 2 * N).base("Â").operands(torch.float32), x


def test_the_discriminator_tells_the_nodes_from_corrupted_ones():
    x, a, _ = communities()
    unseen = words(keys(torch.tensor(99)), (x.shape[0],)).argsort()
    shares = []

    def look(model):
        transformed = x @ model.weight
        true, false = model.encoded(transformed, a), model.encoded(transformed[unseen], a)
        summary = model.discriminator @ torch.sigmoid(true.mean(0))
        shares.append(((true @ summary > 0).float().mean() + (false @ summary < 0).float().mean()) / 2)

    torch.manual_seed(5)
    look(Infomax(10, 16))
    look(trained(x, a, HOW, seed=0))
    assert shares[0] < 0.65 < 0.8 < shares[1]


def test_corruption_gives_nodes_the_features_of_others():
    x, a, features = communities()
    model, order = Infomax(10, 16), torch.randperm(120)
    shuffled = SparseRows.of(features[order].to_sparse_csr())
    with torch.no_grad():
        assert torch.allclose((x @ model.weight)[order], shuffled @ model.weight, atol=1e-6)
        same = model.loss(x, a, torch.arange(120))  # nothing to tell: at best a coin
        assert same >= torch.tensor(2.0).log() - 1e-6
        assert not torch.allclose(same, model.loss(x, a, order))


def test_labels_play_no_part_in_the_vectors_and_the_graph_does():
    x, a, _ = communities()
    alone = torch.eye(120)
    own = Adjacency.of(alone.nonzero().T, None, 120).operands(torch.float32)
    group = torch.arange(120) // 60

    def vectors(x, operands):
        model = trained(x, operands, HOW, 0)
        return model.encoded(x @ model.weight, operands).detach()

    def apart(found):
        """Distance of the means of the groups over the spread within."""
        means = torch.stack([found[group == g].mean(0) for g in (0, 1)])
        return (means[0] - means[1]).norm() / (found - means[group]).norm(dim=1).mean()

    assert apart(vectors(x, a)) > 1.5 * apart(vectors(x, own))


def test_trials_are_their_own_and_follow_the_seed():
    data = two_rings()
    both = trainer("dgi")(data, {**HOW, "epochs": 100}, [3, 4])
    assert both.shape == (2, 40)
    assert torch.equal(trainer("dgi")(data, {**HOW, "epochs": 100}, [4])[0], both[1])
    assert (both == data.truth)[:, data.y < 0].float().mean() > 0.8


def dense_loss(model, x, a, order):
    """The loss as the paper writes it, by its bilinear scores of nodes and the summary."""
    true, false = (a @ each @ model.weight + model.bias for each in (x, x[order]))
    true, false = (torch.where(each > 0, each, model.slope * each) for each in (true, false))
    s = torch.sigmoid(true.mean(0))
    scores = torch.cat([true @ model.discriminator @ s, false @ model.discriminator @ s])
    return F.binary_cross_entropy_with_logits(scores, (torch.arange(len(scores)) < len(true)).float())


def test_the_loss_is_that_of_the_paper():
    a = torch.rand(30, 30) * (torch.rand(30, 30) < 0.1)
    a = (a + a.T) / 4
    x, order = torch.rand(30, 6), torch.randperm(30)
    model = Infomax(6, 5)
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter)
    edges = a.nonzero().T
    operands = Adjacency.of(edges, a[tuple(edges)], 30).operands(torch.float32)
    torch.testing.assert_close(
        model.loss(SparseRows.of(x.to_sparse_csr()), operands, order), dense_loss(model, x, a, order)
    )


def test_the_graph_is_the_normalised_adjacency_with_self_loops(monkeypatch):
    data = two_rings()
    data.edge_index = torch.cat([data.edge_index, torch.tensor([[0, 7, 0, 11], [7, 0, 11, 0]])], 1)  # uneven degrees
    A = torch.eye(40).index_put(tuple(data.edge_index), torch.tensor(1.0), accumulate=True)
    seen = []
    monkeypatch.setattr(dgi, "trained", lambda x, a, how, seed: seen.append((x, a)) or Infomax(x.shape[1], 4))
    dgi.train(data, HOW, [0])
    ((x, a),) = seen
    torch.testing.assert_close(spmm(*a, torch.eye(40)), A / (A.sum(1, keepdim=True) * A.sum(0)).sqrt())
    torch.testing.assert_close(x @ torch.eye(40), data.x)


@pytest.fixture
def epochs(monkeypatch):
    """Of each epoch that is trained, the order, the loss and the parameters that had it."""
    seen, loss = [], Infomax.loss

    def keeping(model, x, a, order):
        result = loss(model, x, a, order)
        seen.append((order, float(result.detach()), [p.detach().clone() for p in model.parameters()]))
        return result

    monkeypatch.setattr(Infomax, "loss", keeping)
    return seen


def test_every_epoch_and_trial_shuffles_anew(epochs):
    x, a, _ = communities()
    for seed in (0, 1):
        trained(x, a, {**HOW, "epochs": 10}, seed)
    orders = torch.stack([order for order, _, _ in epochs])
    assert torch.equal(orders.sort(1).values, torch.arange(120).expand(20, 120))
    assert len(orders.unique(dim=0)) == 20


def test_the_encoder_of_the_lowest_loss_is_kept_and_patience_ends_the_wait(epochs):
    x, a, features = communities()
    rough = {**HOW, "lr": 0.3, "epochs": 100, "patience": 4}  # a rate at which the loss goes up, too
    model = trained(x, a, rough, 0)
    losses = [loss for _, loss, _ in epochs]
    best = losses.index(min(losses))
    assert len(losses) == best + 1 + 4 < 100
    assert losses[0] > losses[best] < losses[-1]
    for now, then in zip(model.parameters(), epochs[best][2], strict=True):
        assert torch.equal(now, then)
    weight, _, slope, bias = epochs[best][2]
    vectors = model.encoded(x @ model.weight, a).detach()
    torch.testing.assert_close(vectors, F.prelu(spmm(*a, features @ weight) + bias, slope))
