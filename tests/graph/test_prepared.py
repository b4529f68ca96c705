from itertools import count

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from interleaving import interrupted

from panconv import Adjacency, PANConv
from panconv.graph.prepared import PreparedGraph

RING = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0]])
STAR = torch.tensor([[0, 0, 0], [1, 2, 3]])


def same(adj, other):
    return torch.equal(adj.to_dense(), other.to_dense())


@pytest.mark.parametrize(("weight", "other_weight"), [(None, None), (torch.rand(4), None), (None, torch.rand(3))])
@pytest.mark.parametrize("trained", [False, True])
def test_another_thread_at_any_moment_changes_no_result(weight, other_weight, trained):
    weight = weight if weight is None else weight.clone().requires_grad_(trained)
    right = {"ring": Adjacency.of(RING, weight, 4), "star": Adjacency.of(STAR, other_weight, 4)}
    for at in count():
        prepared = PreparedGraph()
        calls = {"ring": lambda p=prepared: p(RING, weight, 4), "star": lambda p=prepared: p(STAR, other_weight, 4)}
        calls["star"]()
        adj, reached = interrupted(calls["ring"], PreparedGraph.__module__, at, calls["star"])
        assert same(adj, right["ring"]), at
        for name in ("star", "ring", "star"):
            assert same(calls[name](), right[name]), (at, name)
        if not reached:
            break
    assert at > 10  # it did come in between


@pytest.mark.parametrize("form", ["csr", "csc", "bsr", "coo", "dia", "lil", "dok"])
def test_a_scipy_matrix_changed_in_place_is_never_served_stale(form):
    x, conv = torch.randn(3, 4), PANConv(4, 2)
    matrix = sp.coo_matrix(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]], dtype=np.float32)).asformat(form)
    assert torch.equal(conv(x, matrix), conv(x, matrix))
    if form == "coo":
        matrix.row[:], matrix.col[:] = [1, 0, 2, 0], [0, 1, 0, 2]
    elif form in ("dia", "bsr"):
        matrix.data[:] *= 3
    else:
        matrix[0, 1] = 3
    torch.testing.assert_close(conv(x, matrix), conv(x, matrix.copy()))


def test_a_weight_that_is_no_tensor_is_taken_or_refused_in_words():
    conv, x = PANConv(4, 2), torch.randn(4, 4)
    torch.testing.assert_close(conv(x, RING, [2.0, 1.0, 1.0, 1.0]), conv(x, RING, torch.tensor([2.0, 1, 1, 1])))
    with pytest.raises(TypeError, match="edge_weight must be"):
        conv(x, RING, "heavy")
