"""Every baseline on a GPU beside itself on a CPU."""

import pytest
import torch
from torch.testing import assert_close as close
from zoo_graph import settings, small

from panconv.paper.zoo import METHODS, trainer

# Those that draw what they learn from on the device that they are on.
DRAWN = ("deepwalk", "node2vec", "line", "planetoid", "dgi", "fastgcn", "semiemb")


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("name", [name for name in METHODS if name not in DRAWN])
def test_a_gpu_says_what_a_cpu_says(name, monkeypatch):
    monkeypatch.setattr("panconv.compute.spmm._SMALL", 0)  # by kernels, however small the graph
    data, _ = small()
    how = {
        **settings(name, epochs=3, lr=0.01),
        **{drop: 0.0 for drop in METHODS[name].settings if drop.startswith("dropout")},
    }
    here, there = (trainer(name)(data, how, [0, 1], device=device) for device in ("cpu", "cuda"))
    close(there.double(), here.double(), rtol=1e-2, atol=1e-3)
