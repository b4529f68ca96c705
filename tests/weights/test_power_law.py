"""The power law: weights that add up to 1, and an exponent that is trained."""

import copy
import io

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from two_communities import small

from panconv import MET, PAN, Adjacency, PowerLaw, Walks, fit
from panconv.testing import assert_gradients
from panconv.weights import in_words, trial_spec, weights_from

close = torch.testing.assert_close
EDGES = torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])
BOTH = {"kind": "power-law", "alpha": 1.0, "temperature": 4.0, "trained": "both", "normalized": True}


def law(trained, alpha=1.5, T=3.0, L=4, **options):
    return PowerLaw(L, alpha, T, trained, **options)


def moved(weights):
    """Trained so far that every trial has numbers of its own, the first an α below 1."""
    with torch.no_grad():
        for each in weights.parameters():
            each.add_(torch.linspace(-0.6, 0.7, max(each.numel(), 1)).reshape(each.shape))
    return weights


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


# ---------------------------------------------------------------------- a trained exponent


@pytest.mark.parametrize("T", [3.0, [0.5, 3.0, 40.0]])
@pytest.mark.parametrize("normalized", [True, False])
def test_whatever_is_trained_it_starts_as_the_fixed_law(T, normalized):
    fixed = law(False, T=T, normalized=normalized)
    lengths, reference = (
        torch.tensor([0.0, 0.3, 1.0, 2.5]),
        torch.tensor([[0], [2]]).expand(2, fixed.temperature.numel()),
    )
    reference = reference if fixed.temperature.dim() else reference[:, 0]
    for trained in (True, "alpha", "both"):
        made = law(trained, T=T, normalized=normalized)
        close(made().detach(), fixed())
        close(made.log_at(lengths).detach(), fixed.log_at(lengths))
        close(made.log_over_at(lengths, reference).detach(), fixed.log_over_at(lengths, reference))
    assert law("both", alpha=1.0).exact().tolist() == law(False, alpha=1.0).exact().tolist()  # to the last digit


def test_what_is_a_parameter_and_what_a_buffer():
    for trained, parameters, state in (
        (True, ["log_temperature"], {"log_temperature"}),
        (False, [], {"log_temperature"}),
        ("alpha", ["log_alpha"], {"log_alpha", "log_temperature"}),
        ("both", ["log_alpha", "log_temperature"], {"log_alpha", "log_temperature"}),
    ):
        made = law(trained)
        assert sorted(name for name, _ in made.named_parameters()) == parameters
        assert set(made.state_dict()) == state
        assert isinstance(made.alpha, torch.Tensor) == (trained in ("alpha", "both"))
        many = law(trained, T=[1.0, 2.0])
        assert all(value.shape == (2,) for value in many.state_dict().values())
    assert law("alpha", alpha=[1.0, 2.0], T=3.0).temperature.tolist() == pytest.approx([3.0, 3.0])
    single = law("both", T=torch.tensor(3.0))
    assert {value.dtype for value in single.state_dict().values()} == {torch.float32}


@pytest.mark.parametrize(("alpha", "T"), [(1.5, 0.7), (1.0, 3.0), ([1.0, 1.5], [0.7, 9.0])])
@pytest.mark.parametrize("normalized", [True, False])
def test_gradients_to_temperature_and_exponent(alpha, T, normalized):
    made = law("both", alpha, T, normalized=normalized)
    numbers = (made.log_temperature, made.log_alpha)
    assert_gradients(made.log, *numbers)
    assert_gradients(made.exact, *numbers)
    assert torch.autograd.gradgradcheck(lambda *_: made.log(), numbers)
    moved(made)  # below 1
    assert_gradients(made.log, *numbers)


@pytest.mark.parametrize("T", [2.0, [0.5, 2.0]])
def test_the_weight_that_others_are_over_is_held_fixed(T):
    made = law("both", 1.5, T)
    reference = torch.full((1, *made.temperature.shape), 2)
    close(made.log_over(reference).squeeze(1), made.log() - made.log()[2])
    for each in (made.log_temperature, made.log_alpha):
        over, plain = (torch.autograd.grad(log.sum(), each)[0] for log in (made.log_over(reference), made.log()))
        close(over, plain)


@pytest.mark.parametrize("method", [1, 2, 3, 5])
@pytest.mark.parametrize("T", [2.0, [0.5, 2.0]])
@pytest.mark.parametrize("edges", [EDGES, EDGES[:, :4]], ids=["joined", "a node alone"])
def test_gradients_through_an_operator(method, T, edges):
    made = law("both", 1.0, T, L=3, normalized=True)
    x = torch.rand(4, *made.temperature.shape, 2, dtype=torch.float64)
    adj = Adjacency.from_edge_index(edges, num_nodes=4)
    assert_gradients(lambda: MET(Walks(adj, 3), made, method) @ x, made.log_temperature, made.log_alpha)


def test_length_0_has_no_energy_and_no_gradient_and_nothing_becomes_nan():
    made = law("both", L=6)
    (gradient,) = torch.autograd.grad(made.log_at(torch.zeros(1)).sum(), made.log_alpha)
    assert (made.log_at(torch.zeros(1)).tolist(), gradient.tolist()) == ([0], 0)
    for log_alpha, log_T in ((8.0, 0.0), (8.0, -700.0), (-8.0, -700.0), (-8.0, 1000.0)):
        with torch.no_grad():
            made.log_alpha.fill_(log_alpha)
            made.log_temperature.fill_(log_T)
        made.zero_grad()
        w = made()
        w.sum().backward()
        assert w.tolist()[0] == 1
        assert all(bool(each.isfinite().all()) for each in (w, made.log_alpha.grad, made.log_temperature.grad))


@pytest.mark.parametrize("trained", ["alpha", "both"])
def test_a_trial_of_some_is_what_it_is_alone(trained):
    many = moved(law(trained, [1.0, 1.2, 2.0], [0.5, 3.0, 40.0], normalized=True))
    for s in range(3):
        alone = law(trained)
        alone.load_state_dict({name: value[s] for name, value in many.state_dict().items()})
        alone.normalized = True
        close(many()[:, s], alone())
        close(weights_from(trial_spec(many.spec(), s), 4)(), alone())
    few = weights_from(trial_spec(many.spec(), [2, 0]), 4)
    close(few(), many()[:, [2, 0]])


@pytest.mark.parametrize("trials", [None, 1, 3])
@pytest.mark.parametrize("trained", ["alpha", "both"])
def test_spec_makes_it_again_as_it_is_now(trained, trials):
    made = moved(weights_from({**BOTH, "trained": trained}, 4, trials))
    spec = made.spec()
    assert isinstance(spec["alpha"], list) == (trials is not None)
    assert bool(made.alpha.min() < 1)  # where none may start
    again = weights_from(spec, 4, trials)
    close(again(), made())
    for name in ("alpha", "temperature"):
        assert again.spec()[name] == pytest.approx(spec[name])
    assert [p.shape for p in again.parameters()] == [p.shape for p in made.parameters()]
    before = copy.deepcopy(again.state_dict())
    moved(again).reset_parameters()
    close(dict(again.state_dict()), dict(before))
    assert weights_from({**BOTH, "alpha": [1.0, 2.0]}, 4, 2).alpha.tolist() == pytest.approx([1, 2])


def test_pickles_and_states_from_before_still_load():
    assert set(vars(PowerLaw(2, 1.5))) >= {"L", "alpha", "trained", "_start"}  # all that they have
    old = PowerLaw.__new__(PowerLaw)
    state = vars(PowerLaw(2, 1.5, 4.0))
    old.__setstate__({name: state[name] for name in state if name != "normalized"})
    close(old(), PowerLaw(2, 1.5, 4.0)())
    assert old.spec() == PowerLaw(2, 1.5, 4.0).spec()
    for made in (old, moved(law("both", T=[1.0, 2.0]))):
        file = io.BytesIO()
        torch.save(made, file)
        file.seek(0)
        close(torch.load(file, weights_only=False)(), made())


@pytest.mark.parametrize("trained", ["alpha", "both"])
@pytest.mark.parametrize("trials", [None, 3])
def test_a_model_of_it_is_saved_and_taken_apart(tmp_path, trained, trials):
    torch.manual_seed(0)
    model = PAN(5, 4, 3, L=3, trials=trials, weights={"kind": "layers", "of": [{**BOTH, "trained": trained}, "free"]})
    moved(model.convs[0].weights)
    model.eval().save(tmp_path)
    x = torch.rand(4, 5)
    close(PAN.load(tmp_path)(x, EDGES), model(x, EDGES))
    given_as_it_is = PAN(5, 4, 3, L=3, trials=trials, weights=model.convs[0].weights)
    close(given_as_it_is.convs[1].weights(), model.convs[0].weights())
    for s in range(trials or 0):
        close(model.trial(s)(x, EDGES), model(x, EDGES)[:, s])
    if trials:
        close(model.narrowed([2, 0])(x, EDGES), model(x, EDGES)[:, [2, 0]])
        close(model.repeated(2)(x, EDGES)[:, ::2], model(x, EDGES))


def test_a_saved_model_has_an_exponent_where_it_is_trained_and_nowhere_else(tmp_path):
    plain, trained = (PAN(5, 4, 3, weights={**BOTH, "trained": each}, trials=2) for each in (True, "both"))
    for model, changed, words in (
        (
            trained,
            {"convs.1.weights.log_alpha": None},
            "ask for a tensor convs.1.weights.log_alpha, which is not there",
        ),
        (trained, {"convs.1.weights.log_alpha": torch.zeros(3)}, r"log_alpha of shape \(2,\), it has \(3,\)"),
        (
            plain,
            {"convs.0.weights.log_alpha": torch.zeros(2)},
            "'convs.0.weights.log_alpha', which its settings do not",
        ),
    ):
        model.save(file := tmp_path / "model.safetensors")
        with safe_open(file, "pt") as opened:
            metadata = opened.metadata()
        state = {name: t for name, t in {**load_file(file), **changed}.items() if t is not None}
        save_file(state, file, metadata)
        with pytest.raises(ValueError, match=words):
            PAN.load(file)


def test_training_moves_the_exponent_of_each_trial_as_alone():
    data = small()
    how = {"lr": 0.05, "epochs": 8, "patience": 8}
    both = fit(PAN(6, 4, 2, weights=BOTH, trials=2, dropout=0.0), data, seeds=[0, 1], keep="last", **how).model
    for s in (0, 1):
        alone = fit(PAN(6, 4, 2, weights=BOTH, dropout=0.0), data, seeds=[s], keep="last", **how).model
        for conv, of in zip(alone.convs, both.trial(s).convs, strict=True):
            close(of.weights.alpha, conv.weights.alpha, rtol=1e-4, atol=1e-4)
            assert abs(float(conv.weights.alpha.detach()) - 1) > 0.05


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: law("T"), "trained must be True .*'alpha' or 'both', got 'T'"),
        (lambda: law(None), "trained must be True .*'alpha' or 'both', got None"),
        (lambda: law("both", alpha=0.5), r"alpha must be a number of at least 1, or \(S,\) of them.*got 0.5"),
        (lambda: law("alpha", alpha=[1.0, 0.5]), r"alpha must be a number of at least 1.*got \[1.0, 0.5\]"),
        (lambda: law("both", alpha=float("nan")), "alpha must be a number of at least 1.*got nan"),
        (lambda: law("both", alpha="x"), "alpha must be a number of at least 1.*got 'x'"),
        (
            lambda: law("both", [1.0, 2.0], [1.0, 2.0, 3.0]),
            "alpha must be a number, or 3 numbers, one per trial, got 2",
        ),
        (lambda: law(True, alpha=[1.0, 2.0]), r"alpha must be a number of at least 1.*got \[1.0, 2.0\]"),
        (lambda: weights_from({**BOTH, "alpha": 0.0}, 2), "alpha must be positive and finite.*got 0.0"),
        (lambda: weights_from({**BOTH, "alpha": [1.0, 2.0]}, 2, 3), "alpha must be a number, or 3 numbers"),
        (lambda: weights_from({**BOTH, "trained": "T"}, 2), "trained must be True"),
        (lambda: weights_from({**BOTH, "alpha": 0.5, "trained": False}, 2), "alpha must be a number of at least 1"),
    ],
)
def test_what_is_refused(make, words):
    with pytest.raises(ValueError, match=words) as refused:
        make()
    assert "\n" not in str(refused.value)
