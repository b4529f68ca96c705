"""The power law whose weights add up to 1."""

import pytest
import torch

from panconv import MET, Adjacency, PowerLaw, Walks
from panconv.weights import in_words, weights_from

close = torch.testing.assert_close


def test_normalized_weights_add_up_to_one_and_keep_their_ratios():
    law, plain = (PowerLaw(5, 1.5, [0.5, 8.0], normalized=each) for each in (True, False))
    close(law().sum(0).detach(), torch.ones(2), check_dtype=False)
    close(law() / law()[0], plain() / plain()[0])
    cold = PowerLaw(3, temperature=1e-4, normalized=True)
    assert cold().tolist() == [1, 0, 0, 0]


def test_normalized_changes_what_is_not_divided_by_z_and_nothing_else():
    adj = Adjacency.from_edge_index(torch.tensor([[0, 1, 1, 2, 3], [1, 0, 2, 1, 0]]), num_nodes=5)
    x = torch.rand(5, 3, dtype=torch.float64)
    for method in (1, 2, 5, 7):
        plain, law = (MET(Walks(adj, 4), PowerLaw(4, 1.0, 3.0, normalized=n), method) @ x for n in (False, True))
        total = PowerLaw(4, 1.0, 3.0).exact().sum() if method == 5 else 1.0
        close(law * total, plain, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("method", [1, 5])
def test_the_gradient_of_a_trained_temperature_sees_the_sum(method):
    adj = Adjacency.from_edge_index(torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), num_nodes=3)
    x = torch.rand(3, 2, dtype=torch.float64)

    def out(log_T):
        law = PowerLaw(3, 1.0, 2.0, normalized=True).double()
        state = {"log_temperature": log_T}
        return torch.func.functional_call(_On(adj, law, method), {f"law.{k}": v for k, v in state.items()}, (x,))

    assert torch.autograd.gradcheck(out, torch.tensor(0.7, dtype=torch.float64, requires_grad=True))


class _On(torch.nn.Module):
    def __init__(self, adj, law, method):
        super().__init__()
        self.adj, self.law, self.method = adj, law, method

    def forward(self, x):
        return MET(Walks(self.adj, 3), self.law, self.method) @ x


def test_normalized_is_written_down_and_told():
    law = PowerLaw(2, 1.0, 4.0, trained=False, normalized=True)
    spec = law.spec()
    assert spec["normalized"] is True
    assert "normalized" not in PowerLaw(2).spec()
    close(weights_from(spec, 2)(), law())
    assert in_words(spec) == "exp(-n^1/4), normalised"
    with pytest.raises(TypeError, match="normalized must be"):
        PowerLaw(2, normalized="yes")
