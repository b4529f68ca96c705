"""`PANConv` between two kinds of nodes: the receivers' rows, written out densely, and PyG's heterogeneous wrappers."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.data import HeteroData
from torch_geometric.explain import Explainer, GNNExplainer
from torch_geometric.explain.algorithm.utils import set_masks
from torch_geometric.nn import HeteroConv, to_hetero

from panconv import METHODS, Adjacency, PANConv
from panconv.nn import PANAttention, bipartite
from panconv.testing import close

EDGES = torch.tensor([[0, 1, 1, 2, 4, 4], [0, 0, 1, 1, 1, 2]])  # 5 senders, 4 receivers: the last hears nobody
X = torch.randn(5, 3, dtype=torch.float64), torch.randn(4, 3, dtype=torch.float64)


@st.composite
def rectangles(draw):
    """A (receivers, senders), as edges that may be repeated, with weights or without."""
    S, R = draw(st.integers(1, 5)), draw(st.integers(1, 5))
    pairs = draw(st.lists(st.tuples(st.integers(0, S - 1), st.integers(0, R - 1)), max_size=12))
    edges = torch.tensor(pairs, dtype=torch.long).reshape(-1, 2).T
    weight = torch.rand(len(pairs), dtype=torch.float64) + 0.1 if draw(st.booleans()) else None
    A = torch.zeros(R, S, dtype=torch.float64)
    for e, (s, r) in enumerate(pairs):
        A[r, s] = 1 if weight is None else A[r, s] + weight[e]
    return edges, weight, A


def by_hand(A, w, method, senders, receivers, mask=None):
    """w₀ · own + w₁ · received by each method's formula, with d what arrives and e what is sent."""
    d, e = A.sum(1, keepdim=True), A.sum(0)
    B, own = A if mask is None else A * mask, torch.ones_like(d)

    def over(v, power=1.0):
        return torch.where(v > 0, v.where(v > 0, 1) ** -power, 0)

    root = over(d, 0.5) * over(e, 0.5)
    hat, loop = over(d + 1, 0.5) * over(e + 1, 0.5), over(d + 1)
    w0, w1 = w
    Z, Z_hat = w0 + w1 * d, w0 + w1 * ((A * hat).sum(1, keepdim=True) + loop)
    own, heard = {
        1: lambda: (w0 / Z, w1 * B / Z),
        2: lambda: (w0 / Z, w1 * B * over(Z, 0.5) * over(w0 + w1 * e, 0.5)),
        3: lambda: (w0 * own, w1 * B * over(d)),
        4: lambda: (w0 + w1 * loop, w1 * B * loop),
        5: lambda: (w0 + w1 * loop, w1 * B * hat),
        6: lambda: (w0 * own, w1 * B * root),
        7: lambda: ((w0 + w1 * loop) / Z_hat, w1 * B * hat / Z_hat),
        8: lambda: (w0 * own, w1 * B * over(d)),
        9: lambda: (w0 * own, w1 * B * root),
        10: lambda: [v / (w0 + w1 * (A * root).sum(1, keepdim=True)) for v in (w0 * own, w1 * B * root)],
        11: lambda: [v / (w0 + w1 * (d > 0)) for v in (w0 * own, w1 * B * over(d))],
    }[method]()
    return own * receivers + heard @ senders


@settings(max_examples=15)
@given(rectangles(), st.booleans())
def test_every_method_by_its_formula(rectangle, masked):
    edges, weight, A = rectangle
    x = torch.randn(A.size(1), 3, dtype=torch.float64), torch.randn(A.size(0), 3, dtype=torch.float64)
    mask = dense = None
    if masked and weight is not None:
        mask = torch.rand(edges.size(1), dtype=torch.float64)
        dense = torch.zeros_like(A).index_put((edges[1], edges[0]), mask * weight, accumulate=True) / A.where(A > 0, 1)
    for method in METHODS:
        conv = PANConv(3, 2, L=1, method=method, weights=[0.7, 0.4]).double()
        torch.nn.init.normal_(conv.bias)
        if mask is not None:
            set_masks(conv, mask, edges, apply_sigmoid=False)
        W, w = conv.lin.weight, conv.weights()
        expected = by_hand(A, w, method, x[0] @ W, x[1] @ W, dense) + conv.bias
        close(conv(x, edges, weight), expected)


@pytest.mark.parametrize("method", METHODS)
def test_each_kind_may_have_a_matrix_of_its_own(method):
    A = torch.zeros(4, 5, dtype=torch.float64).index_put((EDGES[1], EDGES[0]), torch.ones(6, dtype=torch.float64))
    x = X[0], torch.randn(4, 7, dtype=torch.float64)
    for widths in ((3, 7), (-1, -1)):
        conv = PANConv(widths, 2, L=1, method=method).double()
        y = conv(x, EDGES)
        W, V, w = conv.lin.weight, conv.lin_receiver.weight, conv.weights()
        close(y, by_hand(A, w, method, x[0] @ W, x[1] @ V) + conv.bias)
        assert conv.in_channels == (3, 7)
        assert "(3, 7), 2, L=1" in repr(conv)
    y.sum().backward()
    assert all(p.grad is not None for p in conv.parameters())


def test_trials_concat_sparse_features_and_no_steps():
    many = PANConv(3, 2, L=1, trials=3).double()
    one = PANConv(3, 2, L=1).double()
    one.load_state_dict({name: state[1] for name, state in many.state_dict().items()})
    close(many(X, EDGES)[:, 1], one(X, EDGES))
    close(one((X[0].to_sparse(), X[1]), EDGES), one(X, EDGES))
    apart = PANConv(3, 2, L=1, concat=True).double()
    with torch.no_grad():
        apart.lin.weight.copy_(one.lin.weight.repeat(1, 2))
    apart.weights.load_state_dict(one.weights.state_dict())
    close(apart(X, EDGES), one(X, EDGES))
    alone = PANConv(3, 2, L=0, method=3).double()
    close(alone(X, EDGES), alone.weights()[0] * X[1] @ alone.lin.weight)


def test_a_pair_of_one_kind_is_that_kind():
    x, edges = X[0], torch.tensor([[0, 1, 2], [1, 2, 0]])
    conv = PANConv(3, 2, L=3).double()
    assert torch.equal(conv((x, x), edges), conv(x, edges))
    conv = PANConv((3, 3), 2, L=1).double()  # two matrices: what a node sends, and what it keeps
    close(conv(x, edges), conv((x, x.clone()), edges))


def test_the_graph_is_prepared_once_and_trained_weights_are_followed(monkeypatch):
    conv = PANConv(3, 2, L=1).double()
    weight = torch.rand(6, dtype=torch.float64) + 0.5

    def score(w):
        return conv(X, EDGES, w)

    torch.autograd.gradcheck(score, weight.clone().requires_grad_())
    close(conv(X, EDGES, torch.ones(6)), conv(X, EDGES))
    made = []
    monkeypatch.setattr(bipartite, "_joint", lambda *given, make=bipartite._joint: made.append(given) or make(*given))
    edges = EDGES.clone()
    close(conv(X, edges), conv(X, edges))
    assert len(made) == 1


def test_what_has_no_meaning_says_why():
    with pytest.raises(ValueError, match="L must be 1 between two kinds of nodes, got 2: a path cannot go on"):
        PANConv(3, 2).double()(X, EDGES)
    with pytest.raises(ValueError, match="L must be 1 between two kinds of nodes, got 2"):
        PANConv((3, 3), 2)
    conv = PANConv(3, 2, L=1).double()
    with pytest.raises(ValueError, match="x_dst is None, so that nobody says how many"):
        conv((X[0], None), EDGES)
    with pytest.raises(ValueError, match=r"give PANConv in_channels=\(3, 2\)"):
        conv((X[0], X[1][:, :2]), EDGES)
    with pytest.raises(ValueError, match="edge_index names source 4, but there are only 3"):
        conv((X[0][:3], torch.randn(9, 3, dtype=torch.float64)), EDGES)
    with pytest.raises(ValueError, match="edge_index names target 2, but there are only 2"):
        conv((X[0], X[1][:2]), EDGES)
    with pytest.raises(TypeError, match="must be an edge_index"):
        conv(X, Adjacency.from_edge_index(EDGES))
    with pytest.raises(ValueError, match="paths must be 'walks' between two kinds"):
        PANConv(3, 2, L=1, method=1, paths="shortest").double()(X, EDGES)
    with pytest.raises(ValueError, match="a pair of them for senders and receivers"):
        PANConv((3, 3, 3), 2)
    with pytest.raises(ValueError, match=r"must be a pair \(x_src, x_dst\)"):
        conv((*X, X[0]), EDGES)
    for wrong in ((X[0], X[1].tolist()), (X[0].tolist(), X[1]), list(X)):
        with pytest.raises(TypeError, match=r"x must be a tensor \(N, 3\), got list"):
            conv(wrong, EDGES)
    with pytest.raises(ValueError, match=r"x must be \(N, 3\), a row per node, got shape \(4,\)"):
        conv((X[0], X[1][:, 0]), EDGES)
    with pytest.raises(TypeError, match="x must be a tensor"):
        PANAttention(3, 2, L=1).double()(X, EDGES)


# ---------------------------------------------------------------------- PyG's heterogeneous models

METADATA = (
    ["author", "paper"],
    [("author", "writes", "paper"), ("paper", "cites", "paper"), ("paper", "by", "author")],
)
NODES = {"author": X[0].float(), "paper": torch.randn(4, 7)}
LINKS = {
    METADATA[1][0]: EDGES,
    METADATA[1][1]: torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0]]),
    METADATA[1][2]: EDGES.flip(0),
}


def rectangle(edge_type):
    rows, columns = (NODES[kind].size(0) for kind in (edge_type[2], edge_type[0]))
    return torch.zeros(rows, columns, dtype=torch.float64).index_put(
        (LINKS[edge_type][1], LINKS[edge_type][0]), torch.ones(LINKS[edge_type].size(1), dtype=torch.float64)
    )


def test_hetero_conv():
    convs = {edge_type: PANConv((-1, -1), 2, L=1, method=3) for edge_type in METADATA[1]}
    found = HeteroConv(convs, aggr="sum").double()({k: v.double() for k, v in NODES.items()}, LINKS)
    expected = dict.fromkeys(NODES, 0)
    for edge_type, conv in convs.items():
        senders, receivers = NODES[edge_type[0]].double(), NODES[edge_type[2]].double()
        mapped = senders @ conv.lin.weight, receivers @ conv.lin_receiver.weight
        part = by_hand(rectangle(edge_type), conv.weights(), 3, *mapped) + conv.bias
        expected[edge_type[2]] = expected[edge_type[2]] + part
    for kind, value in expected.items():
        close(found[kind], value)


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = PANConv((-1, -1), 4, L=1), PANConv((-1, -1), 2, L=1, method=1)

    def forward(self, x, edge_index):
        return self.second(self.first(x, edge_index).relu(), edge_index)


def test_to_hetero():
    model = to_hetero(Model(), METADATA, aggr="sum").double()
    nodes = {kind: x.double() for kind, x in NODES.items()}
    found = model(nodes, LINKS)

    def layer(convs, x, method):
        out = dict.fromkeys(x, 0)
        for edge_type in METADATA[1]:
            conv = convs["__".join(edge_type)]
            mapped = x[edge_type[0]] @ conv.lin.weight, x[edge_type[2]] @ conv.lin_receiver.weight
            part = by_hand(rectangle(edge_type), conv.weights(), method, *mapped) + conv.bias
            out[edge_type[2]] = out[edge_type[2]] + part
        return out

    hidden = {kind: x.relu() for kind, x in layer(model.first, nodes, 5).items()}
    for kind, value in layer(model.second, hidden, 1).items():
        close(found[kind], value)


def test_an_explainer_on_a_heterogeneous_model():
    hetero = to_hetero(Model(), METADATA, aggr="sum")

    class Papers(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.hetero = hetero

        def forward(self, x_dict, edge_index_dict):
            return self.hetero(x_dict, edge_index_dict)["paper"]

    config = {"mode": "multiclass_classification", "task_level": "node", "return_type": "raw"}
    model = Papers().eval()
    model(NODES, LINKS)
    explainer = Explainer(
        model,
        algorithm=GNNExplainer(epochs=3),
        explanation_type="model",
        edge_mask_type="object",
        model_config=config,
    )
    data = HeteroData()
    for kind, x in NODES.items():
        data[kind].x = x
    for edge_type, edges in LINKS.items():
        data[edge_type].edge_index = edges
    found = explainer(data.x_dict, data.edge_index_dict, index=1)
    assert all(found[edge_type].edge_mask.abs().sum() > 0 for edge_type in METADATA[1])
