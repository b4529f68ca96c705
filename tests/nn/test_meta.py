"""The meta device: layers are laid out there without numbers, called for their shapes, and filled later."""

import pytest
import torch
from graphs import TRIANGLE_AND_TAIL

from panconv import METHODS, PAN, Adjacency, PANConv, PowerLaw
from panconv.nn import HighTemperatureConv, LanczosConv, PANAttention, PANEdgeAttention, SpectralConv

WEIGHTED = Adjacency.from_edge_index(TRIANGLE_AND_TAIL, torch.tensor([1, 1, -0.1, -0.1, 1, 1, 2, 2]))
GRAPHS = [Adjacency.of(TRIANGLE_AND_TAIL), Adjacency.of(torch.tensor([[0, 1, 2, 3], [1, 2, 3, 3]])), WEIGHTED]
SHAPED = {
    **{f"method {m}": (lambda m=m: PANConv(5, 3, method=m)) for m in METHODS},
    "fixed": lambda: PANConv(5, 3, weights=[1.0, -0.5, 0.25]),
    "power law": lambda: PANConv(5, 3, method=2, weights=PowerLaw(2, temperature=0.5)),
    "trials": lambda: PANConv(5, 3, method=7, trials=2),
    "wide": lambda: PANConv(5, 9, method=3),
    "concat": lambda: PANConv(5, 3, concat=True, weights="power-law"),
    "shortest": lambda: PANConv(5, 3, paths="shortest"),
    "attention": lambda: PANAttention(5, 4, heads=2, rank=2),
    "model": lambda: PAN(5, 8, 3, method=2, dropout=0.0),
}
OTHERS = {
    "edges": lambda: PANEdgeAttention(5, 4),
    "lanczos": lambda: LanczosConv(5, 3, steps=2),
    "spectral": lambda: SpectralConv(5, 3, k=2, weights=[1.0, 0.5, 0.25]),
    "hot": lambda: HighTemperatureConv(5, 3),
}


def tensors(layer):
    return [*layer.parameters(), *layer.buffers()]


@pytest.mark.parametrize("name", [*SHAPED, *OTHERS])
def test_laid_out_on_meta_and_filled_it_is_a_layer_as_any(name):
    make = {**SHAPED, **OTHERS}[name]
    with torch.device("meta"):
        layer = make()
    assert all(t.is_meta for t in tensors(layer))
    layer.to_empty(device="cpu")
    with torch.no_grad():
        for t in tensors(layer):
            t.fill_(torch.nan)  # what memory may hold that was not written
    layer.reset_parameters()
    ours, x = make(), torch.randn(4, 5)
    fixed = {key: t for key, t in ours.state_dict().items() if "weights." in key}
    assert fixed.keys() == {key for key in layer.state_dict() if "weights." in key}
    for key, t in fixed.items():
        torch.testing.assert_close(layer.state_dict()[key], t, rtol=0, atol=0)
    ours.load_state_dict(layer.state_dict())
    torch.testing.assert_close(layer(x, GRAPHS[0]), ours(x, GRAPHS[0]))
    with torch.device("meta"):
        empty = make()
    empty.load_state_dict(ours.state_dict(), assign=True)  # the other way to fill it
    torch.testing.assert_close(empty(x, GRAPHS[0]), ours(x, GRAPHS[0]))


@pytest.mark.parametrize("name", SHAPED)
def test_a_call_on_meta_has_the_shape_and_reaches_every_parameter(name):
    layer, x = SHAPED[name](), torch.randn(4, 5)
    for adj in GRAPHS[:2]:
        shape = layer(x, adj).shape
        twin = SHAPED[name]().to("meta")
        out = twin(x.to("meta"), adj.to("meta"))
        assert out.is_meta
        assert out.shape == shape
        out.sum().backward()
        assert all(p.grad is not None and p.grad.shape == p.shape for p in twin.parameters())
    assert SHAPED[name]().to("meta")(x.to("meta"), WEIGHTED.to("meta")).shape == shape  # signed weights too


def test_what_cannot_be_without_numbers_says_what_to_do():
    x, edges = torch.randn(4, 5, device="meta"), TRIANGLE_AND_TAIL.to("meta")
    with pytest.raises(ValueError, match=r"edge_index is on the meta device.*make an Adjacency.*\.to\('meta'\)"):
        PANConv(5, 3).to("meta")(x, edges)
    for make in OTHERS.values():
        with pytest.raises(ValueError, match=r"the graph is on the meta device.* looks at .* such as 'cpu'"):
            make().to("meta")(x, GRAPHS[0].to("meta"))
    with pytest.raises(ValueError, match="x is on cpu, but the layer's parameters are on meta"):
        PANConv(5, 3).to("meta")(torch.randn(4, 5), GRAPHS[0])
    with torch.device("meta"), pytest.raises(ValueError, match=r"weights is on the meta device, .*give a list"):
        PANConv(5, 3, L=1, weights=torch.ones(2))
