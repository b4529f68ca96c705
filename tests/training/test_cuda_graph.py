import pytest
import torch

from panconv.base.tracing import may_look
from panconv.training import cuda_graph
from panconv.training.cuda_graph import WARM_UP, Replayed


class Fake:
    """A recording that counts its replays, a stream, and a current stream, without a GPU."""

    def __init__(self):
        self.log = []

    def replay(self):
        self.log.append("replay")

    def wait_stream(self, other):
        pass


def replayed(monkeypatch, record):
    fake = Fake()
    monkeypatch.setattr(torch.cuda, "Stream", lambda device: fake)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda device: fake)
    monkeypatch.setattr(torch.cuda, "stream", lambda stream: torch.no_grad())
    monkeypatch.setattr(cuda_graph, "_recorded", lambda *_: fake.log.append("record") or (fake if record else None))
    return Replayed(lambda: fake.log.append("call"), torch.device("cuda")), fake.log


def test_recorded_after_the_warm_up_and_then_replayed(monkeypatch):
    step, log = replayed(monkeypatch, record=True)
    for _ in range(WARM_UP):
        step()
    assert step.captured is None
    step()
    step()
    assert step.captured is True
    assert log == ["call"] * WARM_UP + ["record", "replay", "replay"]


def test_called_where_it_cannot_be_recorded(monkeypatch):
    step, log = replayed(monkeypatch, record=False)
    for _ in range(WARM_UP + 2):
        step()
    assert step.captured is False
    assert log == ["call"] * WARM_UP + ["record", "call", "call"]


def test_on_the_cpu_it_is_called():
    calls = []
    step = Replayed(lambda: calls.append(1), torch.device("cpu"))
    for _ in range(6):
        step()
    assert len(calls) == 6
    assert step.captured is False


def test_the_compiler_may_not_look():
    assert may_look()
    seen = []

    def f(x):
        seen.append(may_look())
        return x + 1

    torch.compile(f, backend="eager")(torch.ones(2))
    assert seen == [False]


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_a_gpu_replays_what_it_recorded_and_calls_what_it_cannot():
    device = torch.device("cuda", torch.cuda.current_device())
    count, looked = torch.zeros((), device=device), []

    def step():
        assert may_look() == (not torch.cuda.is_current_stream_capturing())
        count.add_(1)

    def look():
        count.add_(1)
        looked.append(float(count))

    good, bad = Replayed(step, device), Replayed(look, device)
    for _ in range(8):
        good()
    assert good.captured
    assert float(count) == 8
    for _ in range(8):
        bad()
    assert bad.captured is False
    assert looked == list(range(9, 17))
