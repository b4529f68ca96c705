import math

import networkx as nx
import pytest
import torch
from undirected import undirected_edges

from panconv import METHODS, Adjacency
from panconv.paper.studies import filters as study
from panconv.paper.studies.filters import draw_filters, filters

KARATE = Adjacency.of(undirected_edges(nx.karate_club_graph()))
TEMPERATURES = (0.0, 0.1, 1.0, math.inf)


@pytest.mark.parametrize("method", METHODS)
def test_cold_passes_all_and_hot_the_low_frequencies(method):
    """The paper's sentence read as one on frequencies: it is the other way round."""
    found = filters(KARATE, TEMPERATURES, L=2, method=method)
    assert [each.kind() for each in found] == ["all-pass", "all-pass", "low-pass", "low-pass"]
    assert float((found[0].found.gain - 1).abs().max()) < 1e-9
    assert float(found[0].found.leakage.max()) < 1e-7
    spread = [float(each.found.gain.max() - each.found.gain.min()) for each in found]
    assert spread == sorted(spread)


@pytest.mark.parametrize("method", [1, 2])
def test_over_path_lengths_the_sentence_holds(method):
    """Cold, all of Z is in the lowest level; hot, most of it in the highest, as there are about λ₁ⁿ paths."""
    found = filters(KARATE, TEMPERATURES, L=6, method=method)
    assert found[0].shares == [1.0, *[0.0] * 6]
    A = KARATE.to_dense(torch.float64)
    counts = torch.stack([torch.linalg.matrix_power(A, n).sum(1) for n in range(7)])
    torch.testing.assert_close(torch.tensor(found[-1].shares).double(), (counts / counts.sum(0)).mean(1))
    assert max(found[-1].shares) == found[-1].shares[-1] > 0.8
    flat = filters(KARATE, [math.inf], L=6, method=5)[0]  # where Â counts, no level outnumbers another
    assert flat.shares == pytest.approx([1 / 7] * 7)


def test_a_bipartite_graph_keeps_both_ends():
    """K₄,₄: the state that changes sign has gain Σ(−4)ⁿ/Σ4ⁿ, near ±3/5 by the parity of L, and never beyond 1."""
    adj = Adjacency.of(undirected_edges(nx.complete_bipartite_graph(4, 4)))
    for L in (3, 4):
        (hot,) = filters(adj, [math.inf], L=L, method=2)
        ends = sum((-4) ** n for n in range(L + 1)) / sum(4**n for n in range(L + 1))
        assert hot.found.gain.tolist() == pytest.approx([1.0, 1 / sum(4**n for n in range(L + 1)), ends])
        assert hot.kind() == "low-pass"


def test_nothing_to_filter():
    with pytest.raises(ValueError, match="adj has no nodes"):
        filters(Adjacency.from_edge_index(torch.zeros(2, 0, dtype=torch.long), num_nodes=0), [1.0])
    (alone,) = filters(Adjacency.from_edge_index(torch.zeros(2, 0, dtype=torch.long), num_nodes=1), [1.0])
    assert alone.kind() == "all-pass"


def test_a_large_graph_in_bands_and_the_picture(monkeypatch, tmp_path):
    adj, called = Adjacency.of(undirected_edges(nx.random_regular_graph(4, 120, seed=0))), []
    exact = filters(adj, [0.0, 1.0], L=2, method=2)
    monkeypatch.setattr(study, "EXACT", 100)
    found = filters(adj, [0.0, 1.0], L=2, method=2, callback=lambda: called.append(1))
    assert len(called) == 2
    assert not found[1].exact
    for one, other in zip(exact, found, strict=True):
        bands, close = one.found.in_bands(5), other.found.in_bands(5)
        many = bands.states > 5
        torch.testing.assert_close(close.gain[many], bands.gain[many], rtol=0.1, atol=0.03)
    draw_filters(found, "bands", tmp_path / "bands.svg")
    assert "leakage into other frequencies" in (tmp_path / "bands.svg").read_text()
    plain = found[1].plain()
    assert len(plain["bands"]["gain"]) == study.BANDS
    assert filters(adj, [math.inf], L=0, method=2)[0].plain()["temperature"] == "inf"
