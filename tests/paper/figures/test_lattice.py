import pytest

from panconv.paper.figures.lattice import draw_figure1, lattice_filter


def test_the_three_filters_of_the_paper():
    """Counted by hand: 4² walks of two steps, of which 4 come back; 12 paths of two steps avoid themselves."""
    walks, shortest, avoiding = (lattice_filter(name, 2) for name in ("walks", "shortest", "self_avoiding"))
    assert walks.counts == [1, 4, 16]
    assert shortest.counts == avoiding.counts == [1, 4, 12]
    cells = {(2, 2): "k₀ + 4/16 k₂", (2, 3): "1/4 k₁", (1, 1): "2/16 k₂", (0, 2): "1/16 k₂", (0, 0): ""}
    assert {at: walks.cell(*at) for at in cells} == cells
    cells = {(2, 2): "k₀", (2, 3): "1/4 k₁", (1, 1): "2/12 k₂", (0, 2): "1/12 k₂", (0, 0): ""}
    assert {at: shortest.cell(*at) for at in cells} == {at: avoiding.cell(*at) for at in cells} == cells


@pytest.mark.parametrize("L", [0, 1, 3, 4, 9])
def test_a_filter_sums_to_the_sum_of_k(L, tmp_path):
    for name in ("walks", "shortest"):
        assert lattice_filter(name, L).coefficients.sum((1, 2)).tolist() == pytest.approx([1.0] * (L + 1))
    if L < 5:
        draw_figure1(L, tmp_path / "figure1.svg")
        text = (tmp_path / "figure1.svg").read_text()
        assert text == (draw_figure1(L, tmp_path / "again.svg"), (tmp_path / "again.svg").read_text())[1]
