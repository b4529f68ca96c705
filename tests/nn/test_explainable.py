"""PyG's explainers on the layers: what a mask does, by a dense reference, and how far a layer is seen to look."""

import copy
import pickle

import pytest
import torch
from graphs import TRIANGLE_AND_TAIL, dense_base, graphs
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.explain import CaptumExplainer, Explainer, GNNExplainer, PGExplainer
from torch_geometric.explain.algorithm import ExplainerAlgorithm
from torch_geometric.explain.algorithm.utils import clear_masks, set_masks
from torch_geometric.nn import GCNConv, MessagePassing
from torch_geometric.utils import get_embeddings, k_hop_subgraph

from panconv import METHODS, PAN, Adjacency, PANConv
from panconv.nn import HighTemperatureConv, LanczosConv, PANAttention, PANEdgeAttention, SpectralConv
from panconv.testing import close

EDGES = TRIANGLE_AND_TAIL
# What Captum and PyG say of their own tensors.
pytestmark = [
    pytest.mark.filterwarnings("ignore:Input Tensor .* did not already require gradients"),
    pytest.mark.filterwarnings("ignore:Converting a tensor with requires_grad"),
]
NODE = {"mode": "multiclass_classification", "task_level": "node", "return_type": "raw"}


def mask_of(model, mask, edge_index=EDGES):
    """The model with a mask on its edges, taken as it is."""
    set_masks(model, mask, edge_index, apply_sigmoid=False)
    return model


def masked_matrix(graph, mask):
    """A ∘ mask, but for self-loops: of repeated edges the mean of the masks, or the sum of the masked weights."""
    A, count = graph.dense() * 0, graph.dense() * 0
    for e, (source, target) in enumerate(graph.edge_index.T.tolist()):
        A[target, source] += (1 if source == target else mask[e]) * (
            1 if graph.edge_weight is None else graph.edge_weight[e]
        )
        count[target, source] += 1
    return A / count.clamp(min=1) if graph.edge_weight is None else A


def masked_met(graph, mask, w, method):
    """M on a masked base, between degrees, D_n and Z of the base itself."""
    rule, A, N = METHODS[method], graph.dense(), graph.num_nodes
    eye, covered = torch.eye(N, dtype=torch.float64), masked_matrix(graph, mask)
    loops = eye if rule.base in ("A+I", "Â") else 0 * eye
    true = dense_base(A, rule.base)
    bare, bare_masked = A + loops, covered + loops
    # The scaling of the base, entry by entry: what it makes of A or A+I.
    degree = bare.sum(1)
    inverse = torch.where(degree > 0, 1 / degree.where(degree > 0, 1), 0)
    root = inverse.sqrt()
    scale = {"D⁻¹A": inverse[:, None].expand(N, N), "D^−½AD^−½": root[:, None] * root, "Â": root[:, None] * root}
    B = bare_masked * scale.get(rule.base, torch.ones(N, N, dtype=torch.float64))
    close(bare * scale.get(rule.base, torch.ones(N, N, dtype=torch.float64)), true)
    G = [torch.linalg.matrix_power(B, n) for n in range(len(w))]
    D = [torch.linalg.matrix_power(true, n).sum(1) for n in range(len(w))]

    def power(v, p):
        return torch.where(v > 0, v.where(v > 0, 1) ** p, 0)

    if rule.per_length == "row":
        G = [power(d, -1.0)[:, None] * g for d, g in zip(D, G, strict=True)]
    if rule.per_length == "sym":
        G = [power(d, -0.5)[:, None] * g * power(d, -0.5) for d, g in zip(D, G, strict=True)]
    M = sum(k * g for k, g in zip(w, G, strict=True))
    Z = sum(k * d for k, d in zip(w, D, strict=True))
    if rule.overall == "row":
        M = power(Z, -1.0)[:, None] * M
    if rule.overall == "sym":
        M = power(Z, -0.5)[:, None] * M * power(Z, -0.5)
    return M


@settings(max_examples=15)
@given(graphs(min_nodes=1), st.integers(0, 2**31), st.integers(0, 4))
def test_a_mask_multiplies_the_entries_of_the_base_and_nothing_else(graph, seed, L):
    g = torch.Generator().manual_seed(seed)
    mask = torch.rand(graph.edge_index.size(1), generator=g, dtype=torch.float64)
    mask = mask.where(torch.rand(mask.shape, generator=g) > 0.2, 0)
    for method in METHODS:
        conv = PANConv(3, 2, L=L, method=method).double()
        x = torch.randn(graph.num_nodes, 3, dtype=torch.float64, generator=g)
        expected = masked_met(graph, mask, conv.weights().detach(), method) @ x @ conv.lin.weight + conv.bias
        mask_of(conv, mask, graph.edge_index)
        close(conv(x, graph.edge_index, graph.edge_weight), expected)
        tracked = mask.clone().requires_grad_()  # term by term, where the other way is one operation
        mask_of(conv, tracked, graph.edge_index)
        close(conv(x, graph.edge_index, graph.edge_weight), expected)


@pytest.mark.parametrize("method", METHODS)
def test_gradients_reach_the_mask(method):
    repeated = torch.cat([EDGES, EDGES[:, :2], torch.tensor([[1], [1]])], 1)
    for weight in (None, torch.rand(repeated.size(1), dtype=torch.float64) + 0.5):
        conv, x = PANConv(3, 1, L=2, method=method).double(), torch.randn(4, 3, dtype=torch.float64)

        def masked(mask, conv=conv, x=x, weight=weight):
            return mask_of(conv, mask, repeated)(x, repeated, weight)

        mask = torch.rand(repeated.size(1), dtype=torch.float64).requires_grad_()
        torch.autograd.gradcheck(masked, mask)
        torch.autograd.gradcheck(masked, torch.zeros_like(mask).requires_grad_())


@pytest.mark.parametrize("method", [3, 6, 8, 9])
def test_one_number_on_all_edges_is_a_factor_per_step_however_many(method):
    L, x, weight = 200, torch.randn(4, 3, dtype=torch.float64), torch.full((8,), 1e3, dtype=torch.float64)
    conv = PANConv(3, 2, L=L, method=method, weights=[1.0] * (L + 1)).double()
    fewer = PANConv(3, 2, L=L, method=method, weights=[0.9**n for n in range(L + 1)]).double()
    fewer.lin.load_state_dict(conv.lin.state_dict())
    mask = torch.full((8,), 0.9, dtype=torch.float64)
    for each in (mask, mask.requires_grad_()):
        torch.testing.assert_close(mask_of(conv, each)(x, EDGES, weight), fewer(x, EDGES, weight))


LAYERS = [lambda: PANConv(3, 2, L=2), lambda: PANAttention(3, 2, L=2, rank=1), lambda: PANEdgeAttention(3, 2, L=2)]


@pytest.mark.parametrize("make", [*LAYERS, lambda: PAN(3, 4, 2).eval(), lambda: PANConv(3, 2, trials=3)])
def test_a_mask_of_ones_changes_nothing_and_clearing_it_leaves_nothing(make):
    model, x = make(), torch.randn(4, 3)
    before, keys, words = model(x, EDGES), list(model.state_dict()), repr(model)
    close(mask_of(model, torch.ones(8))(x, EDGES), before)
    assert not torch.allclose(mask_of(model, torch.rand(8))(x, EDGES), before)
    mask_of(model, torch.nn.Parameter(torch.rand(8)))
    assert list(model.state_dict()) == keys  # the explainer's parameter is none of the model's
    clear_masks(model)
    assert torch.equal(model(x, EDGES), before)
    assert repr(model) == words


def test_a_mask_of_zeros_leaves_length_0_and_the_loops_that_are_added():
    x, no_edges = torch.randn(4, 3, dtype=torch.float64), torch.zeros(8)
    for method, rule in METHODS.items():
        conv = PANConv(3, 2, L=2, method=method, weights=[1.0, 1.0, 1.0], bias=False).double()
        y, xW = mask_of(conv, no_edges)(x, EDGES), x @ conv.lin.weight
        base = Adjacency.from_edge_index(EDGES).base(rule.base).to_dense(torch.float64)
        loop = base.diagonal() if rule.base in ("A+I", "Â") else torch.zeros(4, dtype=torch.float64)
        D = [torch.linalg.matrix_power(base, n).sum(1) for n in range(3)]
        own = sum(loop**n / (D[n] if rule.per_length else 1) for n in range(3))
        close(y, (own / sum(D) if rule.overall else own).unsqueeze(1) * xW)


def test_edge_attention_is_masked_behind_its_softmax():
    layer, x = PANEdgeAttention(3, 2, L=1, weights=[0.0, 1.0], bias=False).double(), torch.randn(4, 3).double()
    torch.nn.init.normal_(layer.att_sender)
    edges, share = layer.attention(x, EDGES)
    mask, nothing = torch.rand(8).double(), torch.zeros(4, 4).double()
    dense = nothing.index_put((edges[1], edges[0]), share[:, 0].detach())
    of_edges = nothing.index_put((EDGES[1], EDGES[0]), mask)
    close(mask_of(layer, mask)(x, EDGES), (dense * of_edges) @ x @ layer.lin.weight)


@pytest.mark.parametrize("paths", ["shortest", "self_avoiding", "effective"])
def test_formed_paths_refuse_a_mask(paths):
    conv = mask_of(PANConv(3, 2, method=1, paths=paths), torch.ones(8))
    with pytest.raises(ValueError, match="paths must be 'walks' for an explainer's edge mask"):
        conv(torch.randn(4, 3), EDGES)
    conv.explain = False
    assert conv(torch.randn(4, 3), EDGES).shape == (4, 2)


def test_what_cannot_be_masked_says_so():
    x, conv = torch.randn(4, 3), mask_of(PANConv(3, 2), torch.ones(8))
    with pytest.raises(TypeError, match="pass the edge_index itself"):
        conv(x, Adjacency.from_edge_index(EDGES))
    with pytest.raises(ValueError, match=r"the edge mask must be \(2,\), a number per edge, got \(8,\)"):
        conv(x, EDGES[:, :2])
    for layer in (SpectralConv(3, 2, k=2), LanczosConv(3, 2, steps=3), HighTemperatureConv(3, 2)):
        layer(x, EDGES)
        with pytest.raises(ValueError, match="which no mask on edges passes through"):
            mask_of(layer, torch.ones(8))(x, EDGES)
    with pytest.raises(TypeError, match="sends no messages"):
        conv.register_message_forward_hook(print)
    with pytest.raises(TypeError, match="sends no messages"):
        conv.propagate(EDGES, x=x)


# ---------------------------------------------------------------------- how far it is seen to look


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("L", [1, 2, 5])
def test_a_layer_is_seen_as_L_hops_which_is_as_far_as_a_mask_reaches(method, L):
    N = 16
    path = torch.stack([torch.arange(N - 1), torch.arange(1, N)])
    path = torch.cat([path, path.flip(0)], 1)
    model = torch.nn.ModuleList([PANConv(2, 2, L=L, method=method), PANConv(2, 2, L=L, method=method)]).double()
    assert ExplainerAlgorithm._num_hops(model) == 2 * L
    mask = torch.ones(path.size(1), dtype=torch.float64, requires_grad=True)
    x = torch.randn(N, 2, dtype=torch.float64, requires_grad=True)
    mask_of(model, mask, path)
    y = model[1](model[0](x, path), path)[0].sum()
    of_edges, of_nodes = torch.autograd.grad(y, [mask, x])
    nodes, _, _, edges = k_hop_subgraph(0, 2 * L, path, num_nodes=N)
    near = torch.zeros(N, dtype=torch.bool)
    near[nodes] = True
    assert torch.equal(of_nodes.abs().sum(1) > 0, near)
    reached = (of_edges != 0) & (path[0] != path[1])
    assert not bool((reached & ~edges).any())  # nothing that matters is cut off
    assert bool(reached[path[0] == 2 * L].any())  # the farthest step of a path counts


def test_marks_of_further_hops_are_nothing_but_counted():
    conv = PANConv(3, 2, L=4)
    assert [name for name, _ in conv.named_modules()][-3:] == ["hop2", "hop3", "hop4"]
    assert sum(isinstance(module, MessagePassing) for module in torch.nn.Sequential(conv, conv).modules()) == 4
    assert len(list(conv.children())) == 2
    assert ExplainerAlgorithm._num_hops(PANConv(3, 2, L=0)) == 1
    assert ExplainerAlgorithm._num_hops(SpectralConv(3, 2)) == 100
    assert len(get_embeddings(PAN(3, 4, 2).eval(), torch.randn(4, 3), EDGES)) == 2
    mask_of(conv, torch.ones(8))
    assert [m._edge_mask is not None for m in conv.modules() if isinstance(m, MessagePassing)] == [True] + [False] * 3


def test_layers_are_copied_and_pickled_with_a_mask_and_without():
    conv, x = PANConv(3, 2), torch.randn(4, 3)
    for masked in (False, True):
        if masked:
            mask_of(conv, torch.rand(8))
        for twin in (copy.deepcopy(conv), pickle.loads(pickle.dumps(conv))):
            close(twin(x, EDGES), conv(x, EDGES))


# ---------------------------------------------------------------------- end to end


@pytest.fixture(scope="module")
def planted():
    """A model of chains c → b → a in which the class of a is the sign of a feature of c, two hops up.

    Each a hears a second neighbour too, whose features are noise. The edges stand by kind: n of b → a, n of c → b, and
    n of the noise.
    """
    torch.manual_seed(0)
    n = 60
    a, b, c, noise = torch.arange(4 * n).view(4, n)
    edge_index = torch.cat([torch.stack([b, a]), torch.stack([c, b]), torch.stack([noise, a])], 1)
    x, y = 0.5 * torch.randn(4 * n, 4), torch.randint(2, (4 * n,))
    x[:, 0] = 0
    x[c, 0] = 4.0 * y[a] - 2
    model = torch.nn.ModuleDict({"conv": PANConv(4, 8, L=2, method=3, concat=True), "lin": torch.nn.Linear(8, 2)})
    model.forward = lambda x, edge_index: model["lin"](model["conv"](x, edge_index).relu())
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05, weight_decay=1e-3)
    for _ in range(60):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(x, edge_index)[:n], y[:n]).backward()
        optimizer.step()
    assert (model(x, edge_index)[:n].argmax(1) == y[:n]).float().mean() > 0.95
    return model, x, edge_index, y, n


def explained(model, algorithm, **how):
    given = {"explanation_type": "model", "edge_mask_type": "object", "model_config": NODE, **how}
    return Explainer(model, algorithm=algorithm, **given)


def test_gnn_explainer_finds_the_planted_edges(planted):
    model, x, edge_index, _, n = planted
    torch.manual_seed(0)
    for node in range(3):
        mask = explained(model, GNNExplainer(epochs=50, lr=0.1, edge_size=0.1, edge_ent=0.0))(
            x, edge_index, index=node
        ).edge_mask
        assert set(mask.nonzero().flatten().tolist()) <= {node, n + node, 2 * n + node}
        assert min(mask[node], mask[n + node]) > mask[2 * n + node] + 0.2
    assert not any(m.explain for m in model.modules() if isinstance(m, MessagePassing))


def test_pg_explainer_finds_the_planted_edges(planted):
    model, x, edge_index, y, n = planted
    torch.manual_seed(0)
    algorithm = PGExplainer(epochs=10, lr=0.01, edge_size=0.3, edge_ent=0.0)
    explainer = explained(model, algorithm, explanation_type="phenomenon")
    for epoch in range(10):
        for node in range(8):
            algorithm.train(epoch, model, x, edge_index, target=y, index=torch.tensor([node]))
    for node in range(8, 12):  # it has not seen them
        mask = explainer(x, edge_index, target=y, index=node).edge_mask
        assert mask[n + node] > 1.5 * mask[2 * n + node]  # the end with the sign of it, rather than noise


def test_integrated_gradients_add_up(planted):
    pytest.importorskip("captum")
    model, x, edge_index, _, n = planted
    explainer = explained(model, CaptumExplainer("IntegratedGradients", n_steps=30))
    scores = model(x, edge_index)
    nothing = mask_of(model, torch.zeros(edge_index.size(1)), edge_index)(x, edge_index)
    clear_masks(model)
    for node in range(2):
        mask, of = explainer(x, edge_index, index=node).edge_mask, scores[node].argmax()
        torch.testing.assert_close(mask.sum(), scores[node, of] - nothing[node, of], rtol=0.03, atol=0.03)
        assert mask.abs().argmax() in (node, n + node)


@pytest.mark.parametrize("attribution", ["Saliency", "InputXGradient"])
def test_captum_on_nodes_and_edges(attribution):
    pytest.importorskip("captum")
    explainer = explained(PAN(3, 4, 2).eval(), CaptumExplainer(attribution), node_mask_type="attributes")
    found = explainer(torch.randn(4, 3), EDGES, index=0)
    assert found.node_mask.shape == (4, 3)
    assert found.edge_mask.shape == (8,)
    assert found.edge_mask.abs().sum() > 0


def test_one_explainer_after_another_has_gradients_again():
    pytest.importorskip("captum")
    # What GNNExplainer leaves behind must not cut the mask of the next one off from its gradient.
    model, x = PAN(3, 4, 2).eval(), torch.randn(4, 3)
    explained(model, GNNExplainer(epochs=2))(x, EDGES, index=0)
    assert explained(model, CaptumExplainer("Saliency"))(x, EDGES, index=0).edge_mask.abs().sum() > 0


@pytest.mark.parametrize("weighted", [False, True])
def test_masks_know_how_loops_and_repeats_were_read(weighted):
    edges = torch.tensor([[0, 0, 0, 1, 1, 2, 0], [0, 1, 0, 0, 2, 1, 1]])  # a loop and an edge twice
    x, weight = torch.randn(3, 3), torch.rand(7) + 0.5 if weighted else None
    conv = PANConv(3, 2, L=1, weights=[0.0, 1.0], loops="remaining", repeats="sum")
    out, mask = conv(x, edges, weight), torch.ones(7)
    close(mask_of(conv, mask, edges)(x, edges, weight), out)
    mask[0] = mask[2] = 0.5  # self-loops stay as they are
    close(mask_of(conv, mask, edges)(x, edges, weight), out)
    mask[1] = 0.0
    assert not torch.allclose(mask_of(conv, mask, edges)(x, edges, weight), out)
    gcn = GCNConv(3, 2)
    with torch.no_grad():
        gcn.lin.weight.copy_(conv.lin.weight.T)
    mask = torch.rand(7)
    expected = mask_of(gcn, mask, edges)(x, edges, weight)
    torch.testing.assert_close(mask_of(conv, mask, edges)(x, edges, weight), expected)
