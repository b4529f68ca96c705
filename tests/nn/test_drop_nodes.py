import torch

from panconv.nn import DropNodes


def test_it_drops_rows():
    drop = DropNodes(0.5)
    drop.keys = torch.tensor([3, 4])
    y = drop(torch.ones(50, 4))
    assert y.shape == (50, 2, 4)
    assert set(y.sum(-1).unique().tolist()) == {0.0, 4.0}
    torch.testing.assert_close(drop.eval()(torch.ones(5, 4)), torch.full((5, 4), 0.5))
