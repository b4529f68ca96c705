"""What a GPU could record as a CUDA graph, found out without one."""

from contextlib import contextmanager

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from panconv.compute.kernels import plain
from panconv.compute.kernels.schedule import schedule_of

# Operators that look at a value, or whose result has a shape that depends on one.
LOOKS = {
    *("aten._local_scalar_dense", "aten.nonzero", "aten.masked_select", "aten.is_nonzero", "aten.equal"),
    *("aten._unique2", "aten.unique_dim", "aten.unique_consecutive", "aten.bincount"),
}


class Watch(TorchDispatchMode):
    """Refuses what a recording would."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        name = func.overloadpacket._qualified_op_name.replace("::", ".")
        kwargs = kwargs or {}
        repeats = name == "aten.repeat_interleave" and kwargs.get("output_size") is None
        masks = name == "aten.index" and any(t is not None and t.dtype == torch.bool for t in args[1])
        if name in LOOKS or repeats or masks:
            raise AssertionError(f"{name} looks at a value")
        return func(*args, **kwargs)


@contextmanager
def recording(monkeypatch):
    """As if a GPU recorded what is done: nothing may be looked at."""
    with monkeypatch.context() as patch, Watch():
        patch.setattr("panconv.base.tracing.is_recorded", lambda: True)
        patch.setattr("panconv.compute.series.numbers", lambda w: w.unbind(0))  # which looks on a CPU alone
        for name in ("multiply", "step"):  # a GPU's kernels ask how long the rows are
            patch.setattr(plain, name, _scheduled(getattr(plain, name)))
        yield


def _scheduled(kernel):
    def run(crow, col, *others, **named):
        schedule_of(crow, col.numel())
        return kernel(crow, col, *others, **named)

    return run
