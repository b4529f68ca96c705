import pytest
import torch
import torch.nn.functional as F
from torch_geometric.data import Data

from panconv.paper.zoo import METHODS, planetoid
from panconv.paper.zoo.contexts import Contexts
from panconv.paper.zoo.planetoid import Inputs, Kept, Planetoid, train

SMALL = {
    "hidden": 8,
    "dimension": 8,
    "path": 6,
    "window": 3,
    "walks": 3,
    "batch": 50,
    "label_pairs": 20,
    "pretrain": 60,
    "rounds": 40,
}
HOW = {**METHODS["planetoid"].settings, **SMALL, "lr": 0.02}


def cliques(k=8, features=None):
    """Two cliques, a known node and a validation node in each."""
    pairs = (torch.ones(k, k) - torch.eye(k)).nonzero().T
    y, train, val = torch.full((2 * k,), -1), torch.zeros(2 * k).bool(), torch.zeros(2 * k).bool()
    y[[0, k, 1, k + 1]] = torch.tensor([0, 1, 0, 1])
    train[[0, k]], val[[1, k + 1]] = True, True
    x = torch.ones(2 * k, 4) if features is None else features
    return Data(x=x, edge_index=torch.cat([pairs, pairs + k], 1), y=y, train_mask=train, val_mask=val)


def test_a_table_of_embeddings_learns_from_the_graph_alone():
    told = []
    how = {**HOW, "variant": "T", "context_lr": 0.05}
    classes = train(cliques(), how, [0, 3], tell=told.append)
    assert classes.tolist() == [[0] * 8 + [1] * 8] * 2
    assert told[-1] == 1
    assert torch.equal(train(cliques(), how, [3])[0], classes[1])


def test_without_contexts_the_table_knows_nothing_of_other_nodes():
    still = {**HOW, "variant": "T", "pretrain": 0, "context_steps": 0}
    right = (train(cliques(), still, range(6)) == torch.arange(16) // 8)[:, [k for k in range(16) if k % 8 > 1]]
    assert right.float().mean() < 0.75


def test_embeddings_made_of_features_carry_over_by_contexts():
    """Each clique has words that its known node lacks: the contexts tell whose they are, the labels cannot."""
    x = torch.zeros(16, 4)
    x[[0, 8], [0, 1]] = 1.0
    x[1:8, 2] = x[9:, 3] = 1.0
    inductive = {**HOW, "variant": "I", "embed_lr": 0.01}
    assert train(cliques(features=x), inductive, [0, 1]).tolist() == [[0] * 8 + [1] * 8] * 2


@pytest.fixture
def made(monkeypatch):
    """The models that `train` makes, each with what its embeddings were at the start."""
    models = []

    def keeping(*args):
        model = Planetoid(*args)
        models.append((model, [p.detach().clone() for p in model.embed]))
        return model

    monkeypatch.setattr(planetoid, "Planetoid", keeping)
    return models


def test_a_step_by_labels_moves_the_embeddings_of_known_nodes_alone(made):
    """Adam's first step is as long as its rate, for whatever the loss is to train."""
    how = {**HOW, "variant": "T", "pretrain": 0, "context_steps": 0, "rounds": 1, "label_steps": 1, "embed_lr": 0.03}
    train(cliques(), how, [0, 1])
    ((model, (before,)),) = made
    moved = (model.embed[0].detach() - before).abs()
    assert [each.any(1).nonzero().flatten().tolist() for each in moved] == [[0, 8], [0, 8]]
    torch.testing.assert_close(moved[:, [0, 8]].amax(-1), torch.full((2, 2), 0.03), rtol=1e-2, atol=0)
    assert not model.context.any()


def test_a_step_by_labels_trains_how_embeddings_are_made_of_features(made):
    how = {**HOW, "variant": "I", "pretrain": 0, "context_steps": 0, "rounds": 1, "label_steps": 1, "embed_lr": 0.03}
    train(cliques(), how, [0])
    ((model, before),) = made
    for now, then in zip(model.embed, before, strict=True):
        assert float((now - then).abs().max().detach()) == pytest.approx(0.03, rel=1e-2)


def test_contexts_are_learned_between_the_labels_without_pretraining(made):
    how = {**HOW, "variant": "T", "context_lr": 0.05, "pretrain": 0, "context_steps": 1}
    assert train(cliques(), how, [0, 3]).tolist() == [[0] * 8 + [1] * 8] * 2
    assert made[0][0].context.any(-1).all()  # every node was the context of another


def test_every_step_draws_contexts_of_its_own(monkeypatch):
    steps, loss = [], Planetoid.context_loss
    monkeypatch.setattr(Planetoid, "context_loss", lambda *args: steps.append(args[-1]) or loss(*args))
    train(cliques(), {**HOW, "pretrain": 4, "rounds": 3, "context_steps": 2}, [0])
    assert steps == list(range(4 + 3 * 2))


@pytest.mark.parametrize("variant", ["T", "I"])
@pytest.mark.parametrize("classes", [[0, 1, 0], [0, 0, 0]])  # with one class alone no pair is of two
def test_the_context_loss_is_the_sum_over_walks_noise_and_label_pairs(variant, classes):
    how = {**HOW, "variant": variant, "window": 2, "batch": 4, "label_pairs": 12, "negatives": 3}
    seed, generator = torch.tensor([0, 7]), torch.Generator().manual_seed(0)
    model, x = Planetoid(how, 16, 4, 3, seed), torch.rand(16, 4, generator=generator)
    for parameter in model.embedder:
        parameter.data = torch.randn(parameter.shape, generator=generator)
    paths, known = torch.randint(16, (2, 9, 5), generator=generator), torch.tensor([0, 8, 1])
    contexts = Contexts(paths, known, torch.tensor(classes), 16, 0.5, seed)
    walks, noise = contexts.on_walks(4, 6)
    first, second, sign = contexts.by_class(12, 6)
    total = 0.0
    for s in range(2):
        e = F.relu(x @ model.embed[0][s] + model.embed[1][s]) if variant == "I" else model.embed[0][s]
        likely = F.logsigmoid(e @ model.context[s].T).tolist()
        unlikely = F.logsigmoid(-e @ model.context[s].T).tolist()
        for walk, drawn in zip(walks[s].tolist(), noise[s].tolist(), strict=True):
            for i, node in enumerate(walk):
                for j, other in enumerate(walk):
                    if 0 < abs(i - j) <= 2:
                        total -= likely[node][other] + 3 * sum(unlikely[node][n] for n in drawn) / len(drawn)
        for node, other, alike in zip(first[s].tolist(), second[s].tolist(), sign[s].tolist(), strict=True):
            total -= {1.0: likely[node][other], -1.0: unlikely[node][other], 0.0: 0.0}[alike]
    loss = model.context_loss(Inputs(x, torch.arange(16)), contexts, how, 6)
    assert float(loss.detach()) == pytest.approx(total, rel=1e-5)
    assert sign.unique().tolist() == ([-1, 1] if 1 in classes else [0, 1])


def test_it_trains_where_one_class_alone_is_known():
    data = cliques()
    data.y[[8, 9]] = 0
    assert not train(data, {**HOW, "pretrain": 2, "rounds": 2}, [0]).any()


def test_without_validation_nodes_it_says_what_to_do():
    data = cliques()
    data.val_mask[:] = False
    with pytest.raises(ValueError, match=r"data\.val_mask holds no node.*move some nodes there"):
        train(data, HOW, [0])


@pytest.mark.parametrize("variant", ["T", "I"])
def test_the_scores_are_those_of_the_paper_and_each_loss_has_its_parameters(variant):
    how, seed, generator = {**HOW, "variant": variant}, torch.tensor([0, 7]), torch.Generator().manual_seed(0)
    model, x = Planetoid(how, 16, 4, 3, seed), torch.rand(16, 4, generator=generator)
    for parameter in (*model.embedder, *model.classifier):
        parameter.data = torch.randn(parameter.shape, generator=generator)
    nodes = torch.tensor([5, 2])
    for s in range(2):
        e = F.relu(x @ model.embed[0][s] + model.embed[1][s]) if variant == "I" else model.embed[0][s]
        (W, b), (U, a), (V, c) = model.of_features, model.of_embedding, model.top
        both = torch.cat([F.relu(x @ W[s] + b[s]), F.relu(e @ U[s] + a[s])], 1)
        torch.testing.assert_close(model(Inputs(x[nodes], nodes))[s], (both @ V[s] + c[s])[nodes])
    paths, known = torch.randint(16, (2, 9, 7), generator=generator), torch.tensor([0, 8, 1])
    contexts = Contexts(paths, known, torch.tensor([0, 1, 0]), 16, 0.5, seed)
    # The context loss alone trains the contexts, the supervised one the classifier, and both the embeddings.
    assert {id(p) for p in model.embedder} & {id(p) for p in model.classifier} == set()
    model.context_loss(Inputs(x, torch.arange(16)), contexts, how, 0).backward()
    assert all(p.grad is not None for p in model.embedder)
    assert all(p.grad is None for p in model.classifier)


def test_contexts_beyond_the_window_have_no_say():
    how = {**HOW, "variant": "T", "window": 1, "label_pairs": 1, "negatives": 0, "batch": 40}
    model = Planetoid(how, 20, 4, 2, torch.tensor([0]))
    model.context.data[:, 2] = 1.0  # of all contexts only node 2 has a vector
    contexts = Contexts(
        torch.arange(5).reshape(1, 1, 5), torch.tensor([18, 19]), torch.tensor([0, 1]), 20, 1.0, torch.tensor([0])
    )
    model.context_loss(Inputs(torch.ones(20, 4), torch.arange(20)), contexts, how, 0).backward()
    assert model.embed[0].grad[0].any(1).nonzero().flatten().tolist() == [1, 3]


def test_the_best_on_validation_nodes_is_kept():
    val = torch.tensor([True, True, False])
    kept = Kept(torch.tensor([0, 1]), val, 1, 3)
    for classes in ([1, 1, 0], [0, 1, 1], [0, 0, 0]):
        kept.look(F.one_hot(torch.tensor([classes]), 2).float())
    assert kept.classes.tolist() == [[0, 1, 1]]
