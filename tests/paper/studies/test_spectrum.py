import numpy as np
import pytest
import torch
from torch_geometric.utils import erdos_renyi_graph

from panconv import MET, Adjacency, Walks
from panconv.paper.studies import spectrum
from panconv.paper.studies.spectrum import draw_spectra, spectra

RING = torch.stack([torch.arange(30), (torch.arange(30) + 1) % 30])
RINGS = torch.cat([RING, RING.flip(0), RING + 30, RING.flip(0) + 30], 1)  # two of them


@pytest.mark.parametrize("method", [1, 2, 5, 6, 7, 10, 11])
def test_rings_have_cosines(method):
    adj = Adjacency.from_edge_index(RINGS)
    M, L = spectra(MET(Walks(adj, 1), [0.0, 1.0], method), adj)
    cosine = np.cos(2 * np.pi * np.arange(60) / 30)
    expected = (1 + 2 * cosine) / 3 if method in (5, 7) else cosine
    np.testing.assert_allclose(np.sort(M.values), np.sort(expected), atol=1e-9)
    np.testing.assert_allclose(np.sort(L.values), np.sort(1 - cosine), atol=1e-9)
    assert (M.copies, L.copies) == (2, 2)
    assert M.smooth == pytest.approx(1)
    assert L.smooth == pytest.approx(0, abs=1e-9)
    assert L.gap == pytest.approx(1 - np.cos(2 * np.pi / 30))
    numbers = L.numbers()
    assert numbers["mean"] == pytest.approx(1)
    assert numbers["near_zero"] == pytest.approx(2 / 60)
    assert numbers["largest"] == pytest.approx(2)


def test_a_large_graph_by_its_density(monkeypatch, tmp_path):
    adj = Adjacency.from_edge_index(erdos_renyi_graph(600, 0.015), num_nodes=600)
    M = MET(Walks(adj, 2), [1.0, 1.0, 1.0], 2)
    exact, done = spectra(M, adj), []
    monkeypatch.setattr(spectrum, "EXACT", 100)
    found = spectra(M, adj, 16, done.append)
    assert sum(done) == 32
    for one, other in zip(exact, found, strict=True):
        assert one.exact
        assert not other.exact
        for key in ("largest", "smallest", "smooth", "copies", "gap"):
            assert other.numbers()[key] == pytest.approx(one.numbers()[key], abs=1e-4), key
        assert other.numbers()["mean"] == pytest.approx(one.numbers()["mean"], abs=0.01)
    draw_spectra(found, "both", tmp_path / "both.svg")
    assert (tmp_path / "both.svg").stat().st_size > 5000


@pytest.mark.parametrize(("most", "copies"), [(512, 200), (64, 128)])
def test_a_largest_eigenvalue_that_repeats(monkeypatch, most, copies):
    """200 pairs: the eigenvalue 1 comes 200 times, which is asked for, or not seen to its end."""
    pairs = torch.arange(400).reshape(200, 2).T
    adj = Adjacency.from_edge_index(torch.cat([pairs, pairs.flip(0)], 1))
    monkeypatch.setattr(spectrum, "EXACT", 100)
    monkeypatch.setattr(spectrum, "_MOST", most)
    M, _ = spectra(MET(Walks(adj, 1), [1.0, 0.5], 2), adj, 2)
    assert M.copies == copies
    assert (M.gap is None) == (copies == 128)
