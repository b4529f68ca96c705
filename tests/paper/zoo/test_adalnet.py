"""AdaLNet: the graph of its long scales is learned, through Lanczos."""

import torch
from torch.nn import functional as F
from zoo_graph import check_dropouts

from panconv import Adjacency
from panconv.graph.csr import CSR
from panconv.nn import Stacked
from panconv.paper.zoo.adalnet import AdaLanczosNet, Affinity, Filters
from panconv.paper.zoo.symmetric import start, symmetric
from panconv.spectral import lanczos

HOW = {"short": (1,), "long": (4, 6), "filter": 12, "steps": 5, "hidden": 6, "dropout": 0.0}


def small(N=14):
    edges = torch.randint(N, (2, 2 * N))
    M = symmetric(Adjacency.of(torch.cat([edges, edges.flip(0)], dim=1), None, N), "Â")
    return CSR(M.crow, M.col, M.value.float()), torch.rand(N, 4)


def test_the_affinity_is_a_symmetric_kernel_of_the_embedding_on_the_edges():
    M, x = small()
    affinity = Affinity(4, 6, M)
    S = affinity(x) @ torch.eye(14)
    edges = torch.sparse_csr_tensor(*M, (14, 14)).to_dense()
    e = affinity.embedding(x)
    square = (e[:, None] - e).square().sum(-1)
    K = edges * torch.exp(-square / square[edges > 0].mean())
    root = K.sum(1).rsqrt()
    assert torch.allclose(S, root[:, None] * K * root, atol=1e-5)
    assert torch.linalg.eigvalsh(S.double()).abs().max() <= 1 + 1e-5


def test_gradients_reach_the_embedding_through_lanczos_and_are_right():
    M, x = small()
    M, x = CSR(M.crow, M.col, M.value.double()), x.double()
    affinity = Affinity(4, 6, M).double()

    def result(weight):
        made = torch.func.functional_call(affinity, {"embedding.0.weight": weight}, (x,))
        found = lanczos(made, start(14, x.device).double(), 5)
        G = torch.linalg.matrix_power(found.tridiagonal(), 3)
        return found.Q @ (G @ (found.Q.T @ x))

    weight = affinity.embedding[0].weight.detach().requires_grad_()
    assert torch.autograd.gradcheck(result, (weight,), atol=1e-6)
    assert torch.autograd.grad(result(weight).square().sum(), weight)[0].abs().max() > 1e-6


def test_every_parameter_learns_and_the_learned_graph_changes_the_outcome():
    M, x = small()
    model = AdaLanczosNet(HOW, 4, 3, M)
    before = model(x, None)
    before.square().sum().backward()
    learning = {name for name, p in model.named_parameters() if p.grad is not None and p.grad.abs().sum() > 0}
    parts = ("affinity.embedding.0.weight", "filters.maps.0.2.weight", "filters.maps.1.2.weight", "first.weight")
    assert learning.issuperset(parts)
    with torch.no_grad():
        model.affinity.embedding[0].weight[0] += 2.0
        assert not torch.allclose(model(x, None), before, atol=1e-5)


def test_a_filter_is_a_symmetric_change_of_the_power_itself():
    T = torch.rand(5, 5) / 5
    T = T + T.T
    filters = Filters(5, (4, 6), 12)
    powers = torch.stack([torch.linalg.matrix_power(T, p) for p in (4, 6)])
    assert torch.allclose(filters(T), powers, atol=1e-6)
    torch.nn.init.normal_(filters.maps[1][2].weight)
    G = filters(T)
    assert torch.allclose(G, G.mT, atol=1e-5)
    assert torch.allclose(G[0], powers[0], atol=1e-6)
    assert not torch.allclose(G[1], powers[1], atol=1e-4)


def test_trials_side_by_side_are_those_alone():
    M, x = small()
    both = Stacked(lambda: AdaLanczosNet(HOW, 4, 3, M), 4, 3, trials=2)
    both.seed([1, 2])
    both(x, None).square().sum().backward()
    for s in range(2):
        one = both.trial(s)
        with torch.no_grad():
            assert torch.allclose(both(x, None)[:, s], one(x, None), atol=1e-5)
        one(x, None).square().sum().backward()
        for stacked, p in zip(both.stack, one.parameters(), strict=True):
            assert torch.allclose(stacked.grad[s], p.grad, atol=1e-4)


def test_two_layers_with_a_relu_between_on_one_learned_graph():
    M, x = small()
    model = AdaLanczosNet(HOW, 4, 3, M)
    found = lanczos(model.affinity(x), start(14, x.device), 5)
    G = model.filters(found.tridiagonal())
    hidden = model.first(x, found.Q, G)
    assert hidden.min() < 0
    assert torch.allclose(model(x, None), model.second(hidden.clamp(min=0), found.Q, G), atol=1e-5)


def test_the_networks_of_the_kernel_and_of_the_filters_are_not_linear():
    M, x = small()
    model = AdaLanczosNet(HOW, 4, 3, M)
    for net, given in ((model.affinity.embedding, x), (model.filters.maps[0], torch.randn(7, 25))):
        torch.nn.init.normal_(net[2].weight)
        first, _, second = net
        hidden = F.linear(given, first.weight, first.bias)
        assert hidden.min() < 0
        expected = F.linear(hidden.clamp(min=0), second.weight, second.bias)
        assert torch.allclose(net(given), expected, atol=1e-6)


def test_the_kernel_and_the_inputs_of_both_layers_are_dropped():
    M, x = small()
    model = AdaLanczosNet({**HOW, "dropout": 0.3}, 4, 3, M)
    check_dropouts(model, 0.3, lambda model: model(x, None), ["drop_input", "drop_hidden", "drop_kernel"])
