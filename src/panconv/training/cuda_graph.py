"""A step that is repeated: on a GPU it is recorded once as a CUDA graph and then launched as a whole."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import torch

# Runs before the recording: they compile kernels, fill what is kept with the graph, and make the optimizer's state.
WARM_UP = 3


class Replayed:
    """Calls a function without arguments; on CUDA the fourth call records it, and from then on it is replayed.

    The function must change tensors in place alone and never look at one from the host. Where the recording fails,
    because it does look, it goes on being called: slower, with the same outcome. The calls before the recording are as
    good as any other, so nothing has to be undone; the recording itself runs nothing.

    Args:
        function: what to do.
        device: where it works.

    Attributes:
        captured: whether it is replayed; None while that is not known yet.
    """

    def __init__(self, function: Callable[[], None], device: torch.device) -> None:
        self._function, self._device, self._calls = function, device, 0
        self._graph: torch.cuda.CUDAGraph | None = None
        self._stream = torch.cuda.Stream(device) if device.type == "cuda" else None
        self.captured: bool | None = None if self._stream is not None else False

    def __call__(self) -> None:
        if self.captured is None and self._calls == WARM_UP:
            self._graph = _recorded(self._function, self._device, self._stream)
            self.captured = self._graph is not None
        self._calls += 1
        if self._graph is not None:
            self._graph.replay()
        elif self.captured is None:
            self._warm()
        else:
            self._function()

    def _warm(self) -> None:
        """On a stream of its own, as a recording asks of what runs before it."""
        assert self._stream is not None
        current = torch.cuda.current_stream(self._device)
        self._stream.wait_stream(current)
        # Adam says that it is made for recording and not recorded yet.
        with torch.cuda.stream(self._stream), warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".*capturable=True.*")
            self._function()
        current.wait_stream(self._stream)


def _recorded(
    function: Callable[[], None], device: torch.device, stream: torch.cuda.Stream | None
) -> torch.cuda.CUDAGraph | None:
    """The function as a CUDA graph, or None if it cannot be one."""
    graph = torch.cuda.CUDAGraph()
    try:
        with torch.cuda.device(device), torch.cuda.graph(graph, stream=stream):
            function()
    except RuntimeError:
        torch.cuda.synchronize(device)
        return None
    return graph
