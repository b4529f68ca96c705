import torch
from towns import close, learns_and_repeats, settings, towns, walk

from panconv.paper.zoo import stack
from panconv.paper.zoo.dcnn import Diffusion, train


def test_each_hop_and_feature_has_a_weight_of_its_own():
    model, z = Diffusion(8, 3, p=0.0), torch.randn(5, 8)
    close(model(z), torch.tanh(model.hop_weight * z) @ model.dense.weight.T + model.dense.bias)
    gradient = torch.autograd.grad(model(z).square().sum(), model.hop_weight)[0]
    assert len(gradient.unique()) == 8


def test_hop_0_alone_sees_no_edges_and_hop_1_does():
    data, other = towns(), towns()
    other.edge_index = (other.edge_index + 13) % 60
    for hops, blind in ((0, True), (1, False)):
        how = settings("dcnn", hops=hops, epochs=5)
        assert torch.equal(train(data, how, [0]), train(other, how, [0])) == blind


def test_it_learns():
    learns_and_repeats("dcnn", lr=0.05)


def test_what_is_trained_on_is_every_hop_of_the_walk(monkeypatch):
    data, seen, fit = towns(), [], stack.fit

    def watched(model, shown, **options):
        seen.append(shown.x)
        return fit(model, shown, **options)

    monkeypatch.setattr(stack, "fit", watched)
    P, known = walk(data), data.train_mask | data.val_mask
    for hops in (2, 4):
        train(data, settings("dcnn", hops=hops, epochs=1), [0])
        powers = [torch.linalg.matrix_power(P, n) @ data.x for n in range(hops + 1)]
        close(seen[-1], torch.cat(powers, dim=1)[known])


def test_features_in_double_precision_are_read_as_single():
    data, wide, how = towns(), towns(), settings("dcnn", epochs=3)
    wide.x = wide.x.double()
    assert torch.equal(train(data, how, [0]), train(wide, how, [0]))
