"""DGI learns, without labels, to tell the nodes of the graph from those with the features of others."""

import torch
from rings import two_rings

from panconv import Adjacency
from panconv.features import SparseRows
from panconv.random import keys, words
from panconv.zoo import METHODS, trainer
from panconv.zoo.dgi import Infomax, embedded

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

    def watch(model):
        transformed = x @ model.weight
        true, false = model.encoded(transformed, a), model.encoded(transformed[unseen], a)
        summary = model.discriminator @ torch.sigmoid(true.mean(0))
        shares.append(((true @ summary > 0).float().mean() + (false @ summary < 0).float().mean()) / 2)

    torch.manual_seed(5)
    watch(Infomax(10, 16))
    embedded(x, a, HOW, seed=0, watch=watch)
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

    def apart(vectors):
        """Distance of the means of the groups over the spread within."""
        means = torch.stack([vectors[group == g].mean(0) for g in (0, 1)])
        return (means[0] - means[1]).norm() / (vectors - means[group]).norm(dim=1).mean()

    assert apart(embedded(x, a, HOW, 0)) > 1.5 * apart(embedded(x, own, HOW, 0))


def test_trials_are_their_own_and_follow_the_seed():
    data = two_rings()
    both = trainer("dgi")(data, {**HOW, "epochs": 100}, [3, 4])
    assert both.shape == (2, 40)
    assert torch.equal(trainer("dgi")(data, {**HOW, "epochs": 100}, [4])[0], both[1])
    assert (both == data.truth)[:, data.y < 0].float().mean() > 0.8
