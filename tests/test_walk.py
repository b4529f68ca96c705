"""A call of the layer, followed through the files: x passes few of them, and always downwards."""

import sys
from pathlib import Path

import pytest
import torch
from test_architecture import PACKAGE, RANK

from panconv import METHODS, PANConv

N, MOST = 37, 12  # a number of nodes that nothing else has


def carries_features(frame) -> bool:
    """Whether a function was handed the features of all nodes, in whatever shape the layer has given them."""
    return any(
        isinstance(value, torch.Tensor) and value.dim() >= 2 and value.size(0) == N for value in frame.f_locals.values()
    )


def walk(call):
    """The files that x passes, in order, and the steps from one to the next."""
    files, steps = [], set()

    def follow(frame, event, _):
        here = Path(frame.f_code.co_filename)
        if event != "call" or PACKAGE not in here.parents or not carries_features(frame):
            return
        name = here.relative_to(PACKAGE).as_posix()
        if name not in files:
            files.append(name)
        caller = frame.f_back
        while caller is not None and PACKAGE not in Path(caller.f_code.co_filename).parents:
            caller = caller.f_back  # autograd and nn.Module stand between
        if caller is not None:
            steps.add((Path(caller.f_code.co_filename).relative_to(PACKAGE).as_posix(), name))

    sys.setprofile(follow)
    try:
        call()
    finally:
        sys.setprofile(None)
    return files, steps


def room(name: str) -> int:
    return RANK[name.split("/")[0].removesuffix(".py")]


@pytest.mark.parametrize("method", METHODS)
def test_the_walk_of_a_call_is_short_and_goes_down(method):
    edges = torch.randint(N, (2, 100), generator=torch.Generator().manual_seed(0))
    x, conv = torch.randn(N, 5), PANConv(5, 3, method=method)
    files, steps = walk(lambda: conv(x, torch.cat([edges, edges.flip(0)], 1)))
    assert {"nn/on_paths.py", "nn/pan_conv.py", "met/operator.py", "met/plan.py", "compute/kernels/plain.py"} <= set(
        files
    )
    assert len(files) <= MOST, files
    assert [step for step in steps if room(step[1]) > room(step[0])] == []
