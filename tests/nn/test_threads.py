"""Layers that threads share. `tests/fuzzers/fuzz_threads.py` goes on for as long as one likes."""

from itertools import count

import fuzz_threads
import pytest
import torch
from interleaving import interrupted

from panconv.compute.features import SparseRows
from panconv.nn import Dropout


@pytest.mark.parametrize("shared", fuzz_threads.SHARED)
def test_threads_on_one_layer_get_their_own_results(shared):
    assert fuzz_threads.mixed_up(*fuzz_threads.SHARED[shared](0), calls=30, seed=0) == (0, [])


def test_the_first_calls_of_a_lazy_layer_agree():
    assert fuzz_threads.first_calls(10) == 0


def test_fresh_graphs_leave_nothing_behind():
    _, tensors = fuzz_threads.grown(20, warm=2)
    assert tensors <= 0


def test_dropout_of_another_size_in_between():
    layer, small, large = Dropout(0.5), torch.ones(3, 2), torch.ones(4, 2)
    layer.keys = torch.tensor(1)
    expected, reached = layer(small), True
    for at in count():
        layer(large)
        y, reached = interrupted(lambda: layer(small), Dropout.__module__, at, lambda: layer(large))
        assert torch.equal(y, expected)
        if not reached:
            break


def test_sparse_features_of_another_dtype_in_between():
    rows = SparseRows.of(torch.eye(3).to_sparse())
    for at in count():
        narrow, reached = interrupted(
            lambda: rows.operands(torch.float32), SparseRows.__module__, at, lambda: rows.operands(torch.float64)
        )
        assert narrow[0].value.dtype == torch.float32
        rows.operands(torch.float64)
        if not reached:
            break
