import pytest
import torch

from panconv import PANConv
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


def torus(rows, columns):
    """Both directions of the edges between the four neighbours of each pixel, the borders joined."""
    pixels = torch.arange(rows * columns).reshape(rows, columns)
    pairs = [torch.stack([pixels.flatten(), pixels.roll(-1, side).flatten()]) for side in (0, 1)]
    return torch.cat([*pairs, *(pair.flip(0) for pair in pairs)], 1)


# k(n) are multiples of D_n, so that the kernels are whole numbers: 4 and 16 walks, 4 and 12 self-avoiding paths.
PLUS = [[0, 1, 0], [1, 2, 1], [0, 1, 0]]
WALKS = [[0, 0, 1, 0, 0], [0, 2, 1, 2, 0], [1, 1, 6, 1, 1], [0, 2, 1, 2, 0], [0, 0, 1, 0, 0]]
AVOIDING = [[0, 0, 1, 0, 0], [0, 2, 1, 2, 0], [1, 1, 2, 1, 1], [0, 2, 1, 2, 0], [0, 0, 1, 0, 0]]
FILTERS = [
    ("walks", [2.0, 4.0], PLUS),
    ("shortest", [2.0, 4.0], PLUS),
    ("self_avoiding", [2.0, 4.0], PLUS),
    ("walks", [2.0, 4.0, 16.0], WALKS),
    ("shortest", [2.0, 4.0, 12.0], AVOIDING),
    ("self_avoiding", [2.0, 4.0, 12.0], AVOIDING),
]


@pytest.mark.parametrize(("paths", "k", "kernel"), FILTERS)
@pytest.mark.parametrize("size", [(6, 7), (5, 9)])
def test_on_a_torus_the_layer_is_a_convolution_of_images(paths, k, kernel, size):
    """Eq. 10 is `conv2d` with circular padding and the kernel of Figure 1, times W between the channels."""
    conv = PANConv(3, 2, L=len(k) - 1, method=3, weights=k, paths=paths).double()
    torch.nn.init.normal_(conv.bias)
    image = torch.randn(1, 3, *size, dtype=torch.float64)
    out = conv(image[0].flatten(1).T, torus(*size)).T.reshape(2, *size)
    taps = torch.tensor(kernel, dtype=torch.float64) * conv.lin.weight.T[:, :, None, None]  # (2, 3, side, side)
    padded = torch.nn.functional.pad(image, [len(k) - 1] * 4, mode="circular")
    torch.testing.assert_close(out, torch.nn.functional.conv2d(padded, taps, conv.bias)[0])
