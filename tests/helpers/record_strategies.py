"""Any record that can be, for the law that what is written is read."""

from dataclasses import fields

from hypothesis import strategies as st
from run_records import make

from panconv.paper.zoo.registry import METHODS
from panconv.records.record import Record
from panconv.records.schema import LARGEST, SPLITS

TEXTS = st.text(max_size=20)  # any: newlines, quotes, half a character
NUMBERS = st.floats(-LARGEST, LARGEST) | st.integers(-(10**30), 10**30)
SHARES = st.floats(0, 1)
WHOLE = st.integers(0, 2**63 - 1)
PLAIN = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(TEXTS, PLAIN, max_size=3)
SETTINGS = st.fixed_dictionaries(
    {
        **{"hidden": st.integers(1, 99), "layers": st.integers(1, 3), "lr": st.floats(1e-9, 10)},
        **{"dropout": st.floats(0, 0.999), "weight_decay": st.floats(0, 10)},
        **{"epochs": st.integers(1, 10**6), "patience": st.integers(1, 10**6)},
    }
)
SHARED = {
    **{"dataset": TEXTS, "seed": WHOLE, "seconds": st.floats(0, LARGEST), "device": TEXTS},
    **{"versions": st.dictionaries(TEXTS, TEXTS, max_size=3), "command": TEXTS},
}


@st.composite
def runs(draw):
    """A training of PAN, with the numbers that a loss may turn into; what is read has None for those JSON lacks."""
    how, L = draw(SETTINGS), draw(st.integers(0, 4))
    numbers = NUMBERS | st.sampled_from([float("nan"), float("inf"), -float("inf"), 1e200, None])
    loss = draw(st.lists(numbers, max_size=6))
    finite = [epoch for epoch, x in enumerate(loss, 1) if x is not None and abs(x) <= LARGEST]
    loss = loss if finite else []
    layer = st.lists(numbers, min_size=L + 1, max_size=L + 1)
    best = draw(st.sampled_from(finite)) if finite else draw(st.sampled_from([0, None]))
    accuracy = draw(st.lists(SHARES, min_size=len(loss), max_size=len(loss)))
    outcome = {
        **{"model": "pan", "operator": {"method": draw(st.integers(1, 11)), "weights": draw(PLAIN), "L": L}},
        **{"split": draw(st.sampled_from(SPLITS)), "settings": how, "tested": True, "test_accuracy": draw(SHARES)},
        **{"best_epoch": best, "loss_curve": loss, "accuracy_curve": accuracy},
        **{"val_loss": draw(numbers), "val_accuracy": draw(SHARES), "dropped": draw(st.none() | SHARES)},
        **{"path_weights": draw(st.lists(layer, min_size=how["layers"], max_size=how["layers"]))},
        **{"temperatures": draw(st.just([]) | temperatures(how["layers"]))},
    }
    return Record(**draw(st.fixed_dictionaries(SHARED)), **outcome)


@st.composite
def _tested(draw, kind, more):
    values = draw(st.fixed_dictionaries({**SHARED, **more, "operator": st.none() | OBJECTS, "val_accuracy": SHARES}))
    tested = draw(st.booleans())
    values |= {"tested": tested, "test_accuracy": draw(SHARES) if tested else None}
    return kind(**{field.name: values[field.name] for field in fields(kind)})


def zoo_records():
    """Of methods of the zoo with settings that they have, and of others with any."""
    return st.sampled_from([*METHODS, "mine", ""]).flatmap(
        lambda name: _tested(
            Record,
            {
                **{"model": st.just(name), "split": st.sampled_from(SPLITS)},
                **{"val_loss": st.none() | NUMBERS, "best_epoch": st.none() | WHOLE, "dropped": st.none() | SHARES},
                **dict.fromkeys(("loss_curve", "accuracy_curve", "path_weights", "temperatures"), st.just([])),
                "settings": st.just(_json(METHODS[name].settings)) if name in METHODS else OBJECTS,
            },
        )
    )


def _json(settings):
    return {key: list(value) if isinstance(value, tuple) else value for key, value in settings.items()}


def temperatures(layers):
    """Trained ones, with what they may turn into."""
    odd = st.sampled_from([float("nan"), float("inf"), 1e200, 0.0, None])
    return st.lists(st.floats(0, LARGEST) | st.integers(0, 10**30) | odd, min_size=layers, max_size=layers)


def landings():
    """The records of a start: one per trial."""
    law = {"kind": "power-law", "alpha": 1.0, "temperature": 0.3, "trained": True}
    trials = st.lists(st.tuples(temperatures(2), SHARES), min_size=1, max_size=3)
    return trials.map(
        lambda each: [make(i, weights=law, temperatures=T, test_accuracy=test) for i, (T, test) in enumerate(each)]
    )
