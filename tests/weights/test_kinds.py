import copy

import pytest
import torch

from panconv import Boltzmann, Fixed, Free, PowerLaw
from panconv.testing import assert_gradients, close
from panconv.weights import plain_spec, trial_spec, weights_from


def test_each_kind_is_its_formula():
    assert Free([1.0, 2.0])().tolist() == [1, 2]
    assert Fixed([0, 1, 1])().tolist() == [0, 1, 1]
    energies = torch.tensor([0.0, 1.0, 3.0])
    close(Boltzmann(energies, temperature=2.0)().detach(), torch.exp(-energies / 2))
    close(PowerLaw(3, alpha=2, temperature=0.5)().detach(), torch.exp(-(torch.arange(4.0).double() ** 2) / 0.5))


def test_trials_stand_in_columns_and_parameters_in_rows():
    start = torch.rand(3, 5)
    for weights in (Free(start), Fixed(start), Boltzmann(start)):
        assert weights().shape == (3, 5)
        (state,) = weights.state_dict().values()
        assert state.shape == (5, 3)  # the stack of five single states
    law = PowerLaw(2, temperature=[0.5, 1.0, 2.0])
    close(law()[:, 1].detach(), PowerLaw(2, temperature=1.0)().detach())


def test_who_trains_what():
    assert [len(list(w.parameters())) for w in (Free([1.0]), Boltzmann([0.0]), PowerLaw(2))] == [1, 1, 1]
    assert not list(Fixed([1.0]).parameters())
    assert not list(PowerLaw(2, trained=False).parameters())


def test_gradients():
    for weights in (Free([0.3, 0.4]).double(), Boltzmann([0.3, 0.4]).double(), PowerLaw(2, temperature=0.7).double()):
        assert_gradients(weights, *weights.parameters())
        if weights.positive:
            assert_gradients(weights.log, *weights.parameters())


def test_logarithms_do_not_overflow_where_the_weights_do():
    assert torch.isfinite(Boltzmann([-1000.0, 1000.0]).log()).all()
    assert PowerLaw(2, temperature=1e-4)().tolist() == [1, 0, 0]


def test_reset_goes_back_to_the_start():
    for weights in (Free([1.0, 2.0]), Boltzmann([1.0, 2.0]), PowerLaw(1, temperature=3.0), Free(torch.rand(2, 3))):
        before = copy.deepcopy(weights.state_dict())
        with torch.no_grad():
            for p in weights.parameters():
                p.add_(1)
        weights.reset_parameters()
        for name, value in weights.state_dict().items():
            close(value, before[name])


@pytest.mark.parametrize("trials", [None, 4])
def test_spec_makes_them_again(trials):
    law = PowerLaw(2, alpha=1.5, temperature=2.0, trained=False)
    kinds = ["free", "boltzmann", "power-law", [0.0, 1.0, 2.0], law.spec()]
    for kind in kinds:
        weights = weights_from(kind, 2, trials)
        again = weights_from(weights.spec(), 2, trials)
        assert type(again) is type(weights)
        close(again().detach().to(weights().dtype), weights().detach())
        assert [p.shape for p in again.parameters()] == [p.shape for p in weights.parameters()]


def test_named_starts():
    close(weights_from("free", 3)().detach(), torch.full((4,), 0.25))
    close(weights_from("boltzmann", 3)().detach(), torch.ones(4))
    assert weights_from([0, 1], 1, trials=3)().shape == (2, 3)
    assert weights_from("free", 1, trials=3)().shape == (2, 3)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: weights_from("warm", 2), ValueError, "weights must be one of free.*'warm'"),
        (lambda: weights_from([1.0, 1.0], 2), ValueError, r"L\+1 = 3 entries.*got 2"),
        (lambda: weights_from(Free([1.0]), 2), ValueError, r"L\+1 = 3 entries.*got 1"),
        (lambda: weights_from(object(), 2), TypeError, "weights must be numbers"),
        (lambda: weights_from({"kind": "odd"}, 2), ValueError, "kind 'odd'"),
        (lambda: Fixed([1.0, torch.nan]), ValueError, "k must be finite"),
        (lambda: Fixed(torch.ones(2, 2, 2)), ValueError, r"k must have shape \(L\+1,\)"),
        (lambda: Fixed([]), ValueError, r"k must have shape"),
        (lambda: Boltzmann([0.0], temperature=0), ValueError, "temperature must be positive and finite, got 0"),
        (lambda: PowerLaw(2, alpha=0.5), ValueError, "alpha must be a number of at least 1.*0.5"),
        (lambda: PowerLaw(2, alpha="a"), ValueError, "alpha must be a number"),
        (lambda: PowerLaw(-1), ValueError, "L must be at least 0"),
        (lambda: PowerLaw(2.5), TypeError, "L must be an integer"),
        (lambda: PowerLaw(2, temperature="x"), TypeError, "temperature must be a number"),
        (lambda: weights_from({"kind": "free"}, 2), ValueError, "cannot be read.*'k'"),
        (lambda: PowerLaw(2, temperature=-1.0), ValueError, "temperature must be positive.*-1"),
        (lambda: PowerLaw(2, temperature=torch.inf), ValueError, "temperature must be positive and finite"),
    ],
)
def test_bad_input(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_however_cold_the_first_weight_is_one():
    law = PowerLaw(2, temperature=1e-37)
    law.log_temperature.data.fill_(-100.0)
    assert law().tolist() == [1, 0, 0]


def test_fixed_weights_that_are_loaded_are_looked_at_again():
    fixed = Fixed([1.0, 1.0])
    fixed.load_state_dict({"k": torch.tensor([1.0, -0.5])})
    assert not fixed.positive


def test_spec_is_of_the_weights_as_they_are():
    free = Free([1.0, 1.0])
    with torch.no_grad():
        free.k.copy_(torch.tensor([0.0, 5.0]))
    close(weights_from(free.spec(), 1)().detach(), torch.tensor([0.0, 5.0]).double())


def test_the_spec_of_one_trial():
    for spec in ([[0.0, 1.0], [1.0, 0.0], [1.0, 2.0]], {"kind": "fixed", "k": [[0.0, 1.0], [1.0, 0.0], [1.0, 2.0]]}):
        many = weights_from(spec, 2, 2)
        close(weights_from(trial_spec(spec, 1), 2)(), many()[:, 1])
    law = {"kind": "power-law", "alpha": 1.0, "temperature": [0.5, 2.0], "trained": True}
    close(weights_from(trial_spec(law, 1), 2)().detach(), weights_from(law, 2, 2)()[:, 1].detach())
    for shared in ([0.0, 1.0, 1.0], "free", None, {"kind": "power-law", "temperature": 2.0}):
        assert trial_spec(shared, 1) == shared
    assert plain_spec(torch.tensor([0, 1])) == [0, 1]


@pytest.mark.parametrize("values", [[1 + 2j, 1.0], torch.ones(2, dtype=torch.complex64), [1 + 0j, 1.0]])
def test_an_imaginary_part_is_not_dropped(values):
    for make in (Fixed, Free, Boltzmann, lambda values: PowerLaw(1, temperature=values)):
        with pytest.raises(TypeError, match="number"):
            make(values)


def test_energies_and_temperature_share_a_factor():
    """(E, T) and (cE, cT) are the same weights: there is one of the two too many to learn."""
    E = torch.tensor([0.3, -1.0, 2.0], dtype=torch.float64)
    close(Boltzmann(4 * E, temperature=2.0)(), Boltzmann(2 * E, temperature=1.0)())
    close(Boltzmann(3 * E, temperature=3.0)(), Boltzmann(E, temperature=1.0)())
