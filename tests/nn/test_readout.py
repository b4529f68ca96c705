import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.nn import AttentionalAggregation, global_add_pool, global_max_pool, global_mean_pool

from panconv.nn.readout import Readout

F = 3
PEERS = {"sum": global_add_pool, "mean": global_mean_pool, "max": global_max_pool}
# The graph of each node, in any order, and how many graphs there are: some of them have no node.
BATCHES = st.lists(st.integers(0, 4), max_size=9).map(torch.tensor).map(torch.Tensor.long)


def peer(read, s=None):
    """PyG's of the same kind, with the numbers of a trial."""
    if read.attention is None:
        return PEERS[read.kind]
    gate = torch.nn.Linear(F, 1).double()
    with torch.no_grad():
        weight = read.attention.gate.weight
        gate.weight.copy_((weight if s is None else weight[s]).T)
    return lambda x, batch, size: AttentionalAggregation(gate)(x, batch, dim_size=size)


def started(kind, trials=None):
    read = Readout(kind, F, trials).double()
    with torch.no_grad():
        for p in read.parameters():
            p.normal_()
    return read


@pytest.mark.parametrize("kind", [*PEERS, "attention"])
@given(batch=BATCHES, seed=st.integers(0, 99))
def test_as_in_pyg_alone_and_by_trial(kind, batch, seed):
    torch.manual_seed(seed)
    one, many = started(kind), started(kind, 2)
    x = torch.randint(-2, 3, (len(batch), 2, F)).double().requires_grad_()  # with ties
    pairs = [(one(x[:, 0], batch, 6), peer(one)(x[:, 0], batch, 6))]
    read, shared = many(x, batch, 6), many(x[:, 0], batch, 6)
    assert read.shape == (6, 2, F)
    if kind == "attention":
        pairs += [(shared[:, s], peer(many, s)(x[:, 0], batch, 6)) for s in range(2)]
    pairs += [(read[:, s], peer(many, s)(x[:, s], batch, 6)) for s in range(2)]
    for found, expected in pairs:
        torch.testing.assert_close(found, expected)
        assert not found[5].any()  # a graph without nodes
        if len(batch):
            ours, theirs = (
                torch.autograd.grad(each.square().sum(), x, retain_graph=True)[0] for each in (found, expected)
            )
            torch.testing.assert_close(ours, theirs)


@pytest.mark.parametrize("kind", [*PEERS, "attention"])
def test_gradients(kind):
    read, batch = started(kind, 2), torch.tensor([2, 0, 0, 2, 3])
    x = torch.randn(5, 2, F, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: read(x, batch, 4), x)
    assert torch.autograd.gradgradcheck(lambda x: read(x, batch, 4), x)


@pytest.mark.parametrize("kind", [*PEERS, "attention"])
def test_half_precision_is_added_in_float32(kind):
    read = Readout(kind, F).bfloat16()
    x, batch = torch.rand(4000, F).bfloat16(), torch.arange(4000) % 2
    found = read(x, batch, 2)
    assert found.dtype == torch.bfloat16
    torch.testing.assert_close(found.float(), read.float()(x.float(), batch, 2), rtol=2e-2, atol=2e-2)


def test_the_same_bits_in_every_run():
    x, batch = torch.randn(1000, F), torch.randint(5, (1000,))
    assert all(torch.equal(Readout("sum", F)(x, batch, 5), Readout("sum", F)(x, batch, 5)) for _ in range(5))


def test_a_new_start_of_the_gate():
    read = Readout("attention", F, 2)
    read.attention.gate.weight.data.fill_(100)
    read.reset_parameters()
    assert read.attention.gate.weight.abs().max() < 10


@pytest.mark.parametrize("kind", ["median", None, 3])
def test_other_kinds_are_refused(kind):
    with pytest.raises(ValueError, match="readout must be one of sum, mean, max, attention, got"):
        Readout(kind, F)
