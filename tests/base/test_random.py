import pytest
import torch

from panconv.base import random
from panconv.testing import close


def test_uniform_depends_on_key_and_position_alone():
    seeds = torch.arange(10)
    together = random.uniform(random.keys(seeds, 3), (40, 50))
    alone = random.uniform(random.keys(torch.tensor(7), 3), (40, 50))
    assert torch.equal(together[7], alone)
    assert not torch.equal(together[7], random.uniform(random.keys(torch.tensor(7), 4), (40, 50)))


def test_uniform_is_uniform_and_uncorrelated():
    u = random.uniform(random.keys(torch.arange(8), 0), (40_000,))
    assert u.min() >= 0
    assert u.max() < 1
    deciles = torch.histc(u, 10, 0, 1) / u.numel()
    assert (deciles - 0.1).abs().max() < 5 * (0.1 * 0.9 / u.numel()) ** 0.5
    correlation = torch.corrcoef(u) - torch.eye(8)
    assert correlation.abs().max() < 5 / 40_000**0.5
    assert torch.corrcoef(torch.stack([u[0, 1:], u[0, :-1]]))[0, 1].abs() < 5 / 40_000**0.5


def test_words_use_all_their_bits():
    words = random.words(random.keys(torch.arange(8), 0), (40_000,))
    assert words.min() >= 0
    assert words.max() < 2**32
    ones = torch.stack([((words >> bit) & 1).double().mean() for bit in range(32)])
    assert (ones - 0.5).abs().max() < 5 * (0.25 / words.numel()) ** 0.5


def test_masks_have_their_density_and_share_nothing():
    n = 40_000
    position = random.position_hash(n, torch.device("cpu"))
    for p in (0.1, 0.4, 0.5, 0.9):
        keys = torch.cat([random.keys(torch.arange(10), 2, epoch) for epoch in range(20)])
        masks = random.survivors(torch.ones(n), position, keys[:, None], p)  # 200 trials and epochs
        assert (masks.mean(1) - (1 - p)).abs().max() < 5 * (p * (1 - p) / n) ** 0.5
        correlation = torch.corrcoef(masks) - torch.eye(200)
        assert correlation.std() < 1.2 / n**0.5  # chance


def test_nothing_dropped_at_zero():
    position = random.position_hash(1000, torch.device("cpu"))
    assert random.survivors(torch.ones(1000), position, random.keys(torch.tensor(1)), 0.0).all()


@pytest.mark.parametrize("p", [1e-12, 0.3, 0.5, 0.9])
def test_kept_is_the_comparison_of_words_and_follows_gradients(p):
    position, key = random.position_hash(600, torch.device("cpu")).reshape(20, 1, 30), random.keys(torch.arange(4), 5)
    x = torch.randn(20, 4, 30, requires_grad=True)
    y = random.survivors(x, position, key[:, None], p)
    # By numbers without bounds: what the 32-bit product is, read as a signed word.
    word = (position.long() * (key | 1)[:, None] + 2**31) % 2**32 - 2**31
    expected = torch.where(word >= p * 2**32 - 2**31, x, 0)
    assert torch.equal(y, expected)
    g = torch.randn_like(y)
    assert torch.equal(*(torch.autograd.grad(out, x, g)[0] for out in (y, expected)))
    assert torch.equal(random.survivors(x, position, key[:, None], p, scale=1.5), 1.5 * y)
    assert torch.equal(random.survivors(x.double(), position, key[:, None], p).float(), y)
    shared = torch.randn(20, 1, 30, requires_grad=True)
    (grad,) = torch.autograd.grad(random.survivors(shared, position, key[:, None], p), shared, g)
    close(grad, torch.where(expected != 0, g, 0).sum(1, keepdim=True))


def test_kept_under_transforms():
    position, key = random.position_hash(12, torch.device("cpu")), random.keys(torch.tensor(1), 5)

    def f(x):
        return random.survivors(x, position, key, 0.5)

    x, dx = torch.randn(5, 12), torch.randn(5, 12)
    close(torch.func.vmap(f)(x), f(x))
    close(torch.func.jvp(f, (x,), (dx,))[1], f(dx))
    close(torch.func.grad(lambda x: (f(x) ** 2).sum())(x), 2 * f(x))
    close(torch.compile(f, backend="aot_eager")(x), f(x))


def test_all_bits_of_a_seed_count():
    low = torch.tensor([0, 1, 7, 2**31, 2**32 - 1])
    as_of_old = [614249093, 2270391909, 3103981468, 1065782309, 2157245497]  # for records to come out again
    assert random.keys(low, 3).tolist() == as_of_old
    several = torch.cat([low + (high << 32) for high in (0, 1, 2, 2**30, 2**31 - 1)])
    assert random.keys(several).unique().numel() == several.numel()
    assert len({int(random.keys(torch.tensor(5), 5 + (high << 32))) for high in (0, 1, 2, 2**31 - 1)}) == 4


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_probabilities_by_key_drop_what_each_drops_alone(dtype):
    position, key = random.position_hash(600, torch.device("cpu")).reshape(20, 1, 30), random.keys(torch.arange(5), 5)
    p = torch.tensor([0.0, 0.1, 1 / 3, 0.9, 1 - 2**-40], dtype=torch.float64)
    x = torch.randn(20, 1, 30).to(dtype).requires_grad_()
    together = random.survivors(x, position, key[:, None], p[:, None], 1 / (1 - p[:, None]))
    assert together.dtype == dtype
    for s, share in enumerate(p.tolist()):
        alone = random.survivors(x, position, key[s], share, 1 / (1 - share))
        assert torch.equal(together[:, s : s + 1], alone)
        (ours,) = torch.autograd.grad(together[:, s].float().sum(), x, retain_graph=True)
        assert torch.equal(ours, torch.autograd.grad(alone.float().sum(), x)[0])
    assert torch.equal(together[:, :1], x)  # nothing is dropped with probability 0


def test_draws_have_keys_of_their_own_and_the_first_is_the_trials():
    keys = random.keys(torch.arange(3), 4)
    drawn = random.drawn(keys, 4)
    assert drawn.shape == (12,)
    assert torch.equal(drawn[::4], keys)
    assert drawn.unique().numel() == 12
    assert torch.equal(random.drawn(keys[1], 4), drawn[4:8])
    beside = torch.stack([keys, keys + 1], 1)  # two dropouts
    assert torch.equal(random.drawn(beside, 4)[:, 0], drawn)
