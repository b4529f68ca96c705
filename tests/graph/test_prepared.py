import gc
import weakref
from itertools import count

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from graphs import TRIANGLE_AND_TAIL
from interleaving import interrupted
from torch_geometric import EdgeIndex

from panconv import Adjacency, PANConv
from panconv.graph import prepared as module
from panconv.graph import seen
from panconv.graph.prepared import prepared
from panconv.graph.repeated import Reading

RING = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0]])
STAR = torch.tensor([[0, 0, 0], [1, 2, 3]])


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch):
    monkeypatch.setattr(module, "_sources", {})


def same(adj, other):
    return torch.equal(adj.to_dense(), other.to_dense())


@pytest.mark.parametrize(("weight", "other_weight"), [(None, None), (torch.rand(4), None), (None, torch.rand(3))])
@pytest.mark.parametrize("trained", [False, True])
@pytest.mark.parametrize("most", [16, 1])
def test_another_thread_at_any_moment_changes_no_result(weight, other_weight, trained, most, monkeypatch):
    monkeypatch.setattr(module, "_SOURCES", most)
    weight = weight if weight is None else weight.clone().requires_grad_(trained)
    right = {"ring": Adjacency.of(RING, weight, 4), "star": Adjacency.of(STAR, other_weight, 4)}
    calls = {"ring": lambda: prepared(RING, weight, 4), "star": lambda: prepared(STAR, other_weight, 4)}
    for at in count():
        module._sources.clear()
        calls["star"]()
        adj, reached = interrupted(calls["ring"], module.__name__, at, calls["star"])
        assert same(adj, right["ring"]), at
        for name in ("star", "ring", "star"):
            assert same(calls[name](), right[name]), (at, name)
        assert len(module._sources) <= most
        if not reached:
            break
    assert at > 10  # it did come in between


@pytest.mark.parametrize("changed", ["ring", "weight"])
def test_a_change_by_another_thread_at_any_moment_comes_to_light(changed):
    for at in count():
        ring, weight = RING.clone(), torch.ones(4)

        def change(ring=ring, weight=weight):
            ring.numpy()[:] = 0 if changed == "ring" else ring.numpy()
            weight.numpy()[:] = 5 if changed == "weight" else 1

        prepared(ring, weight, 4)
        _, reached = interrupted(lambda r=ring, w=weight: prepared(r, w, 4), module.__name__, at, change)
        if not reached:
            break
        assert same(prepared(ring, weight, 4), Adjacency.of(ring, weight, 4)), at
    assert at > 10


def test_no_more_than_a_few_are_kept_and_none_of_the_dead():
    first = weakref.ref(prepared(RING, None, 4))
    for i in range(1000):
        edges = torch.tensor([[0, i % 7], [1, 2]])
        prepared(edges, torch.ones(2) if i % 2 else None, 7)
    assert len(module._sources) == 2  # the ring, and the last: the others went with their edge_index
    assert first() is prepared(RING, None, 4)
    alive = [RING.clone() for _ in range(40)]
    adjs = [weakref.ref(prepared(edges, None, 4)) for edges in alive]
    gc.collect()
    assert len(module._sources) == module._SOURCES == sum(adj() is not None for adj in adjs)
    assert first() is None
    adj = weakref.ref(prepared(alive[-1], None, 4))
    gc.disable()
    try:
        alive.clear()  # at once, without waiting for the garbage collector
        del edges
        assert adj() is None
    finally:
        gc.enable()
    assert not module._sources


def test_the_graph_asked_for_last_stays():
    edges = [RING.clone() for _ in range(module._SOURCES + 1)]
    adjs = [prepared(e, None, 4) for e in edges[:-1]]
    assert prepared(edges[0], None, 4) is adjs[0]
    prepared(edges[-1], None, 4)
    assert prepared(edges[0], None, 4) is adjs[0]
    assert prepared(edges[1], None, 4) is not adjs[1]


def test_one_copy_and_one_order_for_all_forms_of_a_graph(monkeypatch):
    copied, copy = [], seen._copy
    monkeypatch.setattr(seen, "_copy", lambda part: copied.append(part) or copy(part))
    weights = [torch.rand(4) for _ in range(3)]
    forms = [(None, 4), (None, 5), *((weight, 4) for weight in weights)]
    adjs = [prepared(RING, *form) for form in forms]
    assert [prepared(RING, *form) for form in forms] == adjs
    assert sum(part is RING for part in copied) == 1
    assert len({id(adj.col) for adj in adjs[2:]}) == 1
    for adj, form in zip(adjs, forms, strict=True):
        assert same(adj, Adjacency.of(RING, *form))


def test_weights_that_died_take_their_form_along():
    weights = [torch.rand(4) for _ in range(40)]
    for weight in weights:
        prepared(RING, weight, 4)
    (source,) = module._sources.values()
    assert len(source.forms) == module._FORMS
    del weight
    weights.clear()
    assert len(source.forms) <= 1  # the pattern at most
    trained = torch.rand(4, requires_grad=True)
    adj = prepared(RING, trained, 4)
    assert adj.is_tracked
    assert not any(form.adj.is_tracked for form in source.forms.values())
    assert prepared(RING, trained, 4) is not adj


def test_ways_of_reading_tell_graphs_apart():
    one, two = (prepared(RING, None, 4, Reading(loops)) for loops in ("add", "remaining"))
    assert (one.loops, two.loops) == ("add", "remaining")
    assert prepared(RING, None, 4, Reading("add")) is one


def test_edited_in_place_between_two_layers():
    edges, x = TRIANGLE_AND_TAIL.clone(), torch.randn(4, 3)
    first, second = PANConv(3, 3), PANConv(3, 2)
    h = first(x, edges)
    edges[:, 0] = torch.tensor([3, 1])
    torch.testing.assert_close(second(h, edges), second(h, Adjacency.of(edges, None, 4)))
    edges.data = torch.tensor([[0], [1]])  # leaves the version as it is
    torch.testing.assert_close(second(h, edges), second(h, Adjacency.of(edges.clone(), None, 4)))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_moved_by_assignment_to_another_device():
    edges = RING.clone()
    prepared(edges, None, 4)
    edges.data = edges.data.cuda()  # as nn.Module.to does it
    adj = prepared(edges, None, 4)
    assert adj.device.type == "cuda"
    edges.data = RING.cuda().flip(1)
    assert prepared(edges, None, 4) is not adj  # other memory, which is compared with nothing


def test_pyg_s_own_edge_index_is_found_again():
    edges = EdgeIndex(RING.clone(), sparse_size=(4, 4))
    adj = prepared(edges, None, 4)
    assert prepared(edges, None, 4) is adj
    assert same(adj, Adjacency.of(RING, None, 4))


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


def test_inference_tensors_are_recognised_by_their_content():
    conv, x = PANConv(4, 2), torch.randn(4, 4)
    with torch.inference_mode():
        edges = RING.clone()
        first = prepared(edges, None, 4)
        assert prepared(edges, None, 4) is first
        edges.copy_(RING.flip(0))
        torch.testing.assert_close(conv(x, edges), conv(x, RING.flip(0)))
