import pytest
import torch
from torch import nn
from torch.testing import assert_close as close

from panconv.training.adam import Rates, TrialAdam, adam, told_apart

RATES, DECAYS = (0.1, 0.003, 0.02), (0.0, 0.5, 0.01)


def parameters(trials=3):
    """Some of each shape, one in another dtype, one that never has a gradient, one that has it at times."""
    draw = torch.Generator().manual_seed(0)
    shapes = [(3, 4, 5), (3, 6), (3,), (3, 2), (3, 7)]
    made = [nn.Parameter(torch.randn(shape, generator=draw)) for shape in shapes]
    made[1] = nn.Parameter(made[1].double())
    return made


def descend(optimizers, params, steps=25):
    """Steps by gradients that are the same for all who ask, but for those that are missing."""
    for step in range(steps):
        descend_once(optimizers, params, step)


def descend_once(optimizers, params, step):
    draw = torch.Generator().manual_seed(step)
    for i, p in enumerate(params):
        grad = torch.randn(p.shape, generator=draw).to(p.dtype) * 10.0 ** (i - 2)
        p.grad = None if i == 3 or (i == 4 and step % 3 == 1) else grad
    for optimizer in optimizers:
        optimizer.step()


def test_each_trial_is_torchs_own_adam():
    params = parameters()
    start = [p.detach().clone() for p in params]
    ours = TrialAdam([{"params": params[:2], "weight_decay": DECAYS}, {"params": params[2:]}], RATES)
    descend([ours], params)
    for s in range(3):
        alone = parameters()
        groups = [{"params": alone[:2], "weight_decay": DECAYS[s]}, {"params": alone[2:]}]
        descend([torch.optim.Adam(groups, RATES[s])], alone)
        for ours_p, theirs in zip(params, alone, strict=True):
            close(ours_p[s], theirs[s], rtol=1e-5, atol=1e-6)
    assert torch.equal(params[3], start[3])
    assert not torch.equal(params[4], start[4])
    assert params[3] not in ours.state


def test_a_step_changes_in_place():
    params = parameters()
    ours = TrialAdam(params, RATES, weight_decay=0.1)
    descend([ours], params, 2)
    held = [*params, *(each for p in params if p in ours.state for each in ours.state[p].values())]
    before = [each.data_ptr() for each in held]
    descend([ours], params, 4)
    after = [*params, *(each for p in params if p in ours.state for each in ours.state[p].values())]
    assert [each.data_ptr() for each in after] == before
    assert ours.state[params[0]]["step"].item() == 6
    assert ours.state[params[4]]["step"].item() == 4  # it had no gradient in two of them
    assert ours.state[params[0]]["step"] is ours.state[params[2]]["step"]


def test_a_closure_is_called_with_gradients():
    p = nn.Parameter(torch.ones(2, 1))
    ours = TrialAdam([p], (0.1, 0.2))

    def closure():
        ours.zero_grad()
        loss = p.square().sum()
        loss.backward()
        return loss

    assert ours.step(closure).item() == 2
    close(p.detach(), torch.tensor([[0.9], [0.8]]))


class Two(nn.Module):
    """Two parameters, of which the first decays."""

    def __init__(self, trials):
        super().__init__()
        self.trials, shape = trials, (2,) if trials is None else (trials, 2)
        self.first, self.second = nn.Parameter(torch.ones(shape)), nn.Parameter(torch.ones(shape))

    def decayed(self):
        return [self.first]


def test_torchs_own_where_trials_share_all():
    cpu = torch.device("cpu")
    for lr, decay, others in [(0.1, 0.5, 0.0), ((0.1,) * 3, (0.5,) * 3, 0.2)]:
        shared = adam(Two(3), lr, decay, cpu, others)
        assert isinstance(shared, torch.optim.Adam)
        assert [group["weight_decay"] for group in shared.param_groups] == [0.5, 0.2 if others else 0.0]
        assert shared.defaults["lr"] == 0.1
    for lr, decay, others in [(RATES, 0.5, 0.0), (0.1, DECAYS, 0.0), (0.1, 0.5, DECAYS)]:
        own = adam(Two(3), lr, decay, cpu, others)
        assert isinstance(own, TrialAdam)
        assert [group["weight_decay"] for group in own.param_groups] == [decay, others]
        assert all(group["lr"] == lr for group in own.param_groups)
    assert adam(Two(None), [0.1], [0.5], cpu).defaults["lr"] == 0.1
    with pytest.raises(ValueError, match="lr must be one number, for one trial, got 3 of them"):
        adam(Two(None), RATES, 0.0, cpu)


def test_rates_of_some_trials():
    rates = Rates.checked(RATES, 0.5, list(DECAYS), 3)
    assert rates.narrowed([2, 0]) == ((0.02, 0.1), 0.5, (0.01, 0.0))
    with pytest.raises(ValueError, match=r"decay_others must be at least 0 and finite, got \[0.1, -1\]"):
        Rates.checked(0.1, 0.0, [0.1, -1])


@pytest.mark.parametrize("by_trial", [False, True])
def test_a_trial_that_rests_is_one_that_took_no_step(by_trial):
    """From torch's own, as it stands when a trial rests for the first time; a step for each trial that does not."""
    rates, rests = RATES if by_trial else (0.1,) * 3, {3: [1], 4: [0, 1], 7: [2], 9: [0, 1, 2]}
    params = parameters()
    optimizer = adam(Decayed(params, 3), rates if by_trial else 0.1, 0.5, torch.device("cpu"))
    before = None
    for step in range(12):
        if step in rests:
            optimizer = told_apart(optimizer)
            optimizer.resting = torch.tensor([s in rests[step] for s in range(3)])
            before = [p.detach().clone() for p in params]
        descend_once([optimizer], params, step)
        for p, kept in zip(params, before or [], strict=False):
            for s in rests.get(step, []):
                assert torch.equal(p[s], kept[s])
    assert optimizer.resting is None
    for s in range(3):
        alone = parameters()
        theirs = torch.optim.Adam([{"params": alone[:2], "weight_decay": 0.5}, {"params": alone[2:]}], rates[s])
        for step in range(12):
            if s not in rests.get(step, []):
                descend_once([theirs], alone, step)
        for ours, their in zip(params, alone, strict=True):
            close(ours[s], their[s], rtol=1e-5, atol=1e-6)


class Decayed(nn.Module):
    """Some parameters, of which the first two decay."""

    def __init__(self, params, trials):
        super().__init__()
        self.trials, self.params = trials, nn.ParameterList(params)

    def decayed(self):
        return list(self.params)[:2]
