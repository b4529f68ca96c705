import errno
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import fuzz_models
import numpy as np
import pytest
import torch
from graphs import TRIANGLE_AND_TAIL
from safetensors import safe_open
from safetensors.torch import save as serialised

from panconv import PAN
from panconv.nn import layers
from panconv.training import saving
from panconv.training import state as states
from panconv.training.saving import file_of

FIXTURES = Path(__file__).parents[1] / "fixtures"
NESTED = "[" * 100_000 + "]" * 100_000


def forged(folder, config, state):
    """A saved model with any settings, as a dict or as they are written, beside any tensors."""
    text = config if isinstance(config, str) else json.dumps({"format": "panconv-model-2", **config})
    folder.mkdir(exist_ok=True)
    (folder / "model.safetensors").write_bytes(serialised(state, {"panconv": text}))
    return folder


def parts(model):
    return model.config, model.state_dict()


def test_where_a_model_lies(tmp_path):
    assert file_of("model") == Path("model/model.safetensors")
    assert file_of(Path("a/b.safetensors")) == Path("a/b.safetensors")
    (tmp_path / "folder.safetensors").mkdir()
    assert file_of(tmp_path / "folder.safetensors") == tmp_path / "folder.safetensors" / "model.safetensors"
    for refuses in (PAN.load, PAN(5, 8, 3).save):
        with pytest.raises(TypeError, match=r"path must be a folder or a \.safetensors file, got 5"):
            refuses(5)


def test_a_model_is_one_file_with_its_settings_inside(tmp_path):
    model, x = PAN(5, 8, 3, method=2), torch.randn(4, 5)
    model.save(tmp_path / "new" / "one.safetensors")
    assert os.listdir(tmp_path / "new") == ["one.safetensors"]
    model.save(tmp_path / "folder")
    assert os.listdir(tmp_path / "folder") == ["model.safetensors"]
    for path in (tmp_path / "new" / "one.safetensors", tmp_path / "folder", tmp_path / "folder" / "model.safetensors"):
        assert torch.equal(PAN.load(path)(x, TRIANGLE_AND_TAIL), model.eval()(x, TRIANGLE_AND_TAIL))
    with safe_open(tmp_path / "new" / "one.safetensors", "pt") as file:
        assert json.loads(file.metadata()["panconv"]) == {"format": "panconv-model-2", **model.config}
    contents = {path.read_bytes() for path in tmp_path.rglob("*.safetensors")}
    assert len(contents) == 1  # the same model, the same bytes


@pytest.mark.parametrize("name", ["model-1", "model-1-trials"])
def test_folders_of_the_former_format_load(tmp_path, name):
    model = PAN.load(FIXTURES / name)
    dtype = torch.float64 if model.trials else torch.float32
    assert {tensor.dtype for tensor in model.state_dict().values()} == {dtype}
    x = torch.arange(12.0, dtype=torch.float32).reshape(4, 3) / 10
    edges = torch.tensor([[0, 1, 1, 2, 0, 2, 2, 3], [1, 0, 2, 1, 2, 0, 3, 2]])
    scores = torch.tensor(json.loads((FIXTURES / name / "scores.json").read_text()), dtype=dtype)
    torch.testing.assert_close(model(x.to(dtype), edges), scores)


def test_a_former_config_never_meets_new_tensors(tmp_path):
    former = FIXTURES / "model-1" / "config.json"
    new = PAN(3, 4, 2, method=1)  # the same shapes: only the settings tell them apart
    new.save(tmp_path)
    shutil.copy(former, tmp_path)
    assert PAN.load(tmp_path).config == new.config
    new.save(tmp_path)
    assert os.listdir(tmp_path) == ["model.safetensors"]
    (tmp_path / "config.json").write_text('{"theirs": 1}')  # some other program's
    new.save(tmp_path)
    assert (tmp_path / "config.json").read_text() == '{"theirs": 1}'
    (tmp_path / "other.safetensors").write_bytes((FIXTURES / "model-1" / "model.safetensors").read_bytes())
    shutil.copy(former, tmp_path)
    with pytest.raises(ValueError, match=r"other\.safetensors holds no saved model: it has no config in its metadata"):
        PAN.load(tmp_path / "other.safetensors")


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"hidden_channels": 100_000}, "ask for convs.0.lin.weight of shape (5, 100000), it has (5, 8)"),
        ({"in_channels": 10**12}, "ask for convs.0.lin.weight of shape (1000000000000, 8), it has (5, 8)"),
        ({"num_layers": 10**9}, "num_layers = 1000000000 makes 3000000000 tensors, it has 6"),
        ({"num_layers": 10**400}, "num_layers must be"),
        ({"L": 10**6}, "ask for convs.0.weights.k of shape (1000001,), it has (3,)"),
        ({"L": 10**12}, "L must be at least 0 and at most 1,000,000"),
        ({"trials": 10**9}, "ask for convs.0.lin.weight of shape (1000000000, 5, 8), it has (5, 8)"),
        ({"out_channels": 0}, "out_channels must be an integer of at least 1, got 0"),
        ({"bias": "no"}, "bias must be true or false, got 'no'"),
        ({"bias": False}, "num_layers = 2 makes 4 tensors, it has 6"),
        ({"surprise": 1}, "unexpected keyword argument 'surprise'"),
    ],
)
def test_settings_are_compared_with_the_tensors_before_anything_is_built(tmp_path, monkeypatch, changed, words):
    config, state = parts(PAN(5, 8, 3))
    monkeypatch.setattr(layers, "PANConv", None)
    with pytest.raises(ValueError, match="holds no saved model") as refused:
        PAN.load(forged(tmp_path, {**config, **changed}, state))
    said = str(refused.value)
    assert words in said
    assert said.startswith(f"{tmp_path}/model.safetensors holds no saved model: ")
    assert said.endswith("; name another, or save it again with PAN.save")
    assert "\n" not in said


def test_lengths_that_no_tensor_tells(tmp_path, monkeypatch):
    model = PAN(5, 8, 3, L=1000, weights="power-law", trials=2)
    model.save(tmp_path)
    assert PAN.load(tmp_path).layers()[0].L == 1000
    with pytest.raises(ValueError, match="L must be at least 0 and at most 1,000,000"):
        PAN.load(forged(tmp_path, {**model.config, "L": 10**8}, model.state_dict()))
    monkeypatch.setattr(states, "_MOST_LENGTHS", 4000)
    with pytest.raises(ValueError, match="choose a lower L"):  # what would not load is not written
        model.save(tmp_path / "new")
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("changed", "dtype", "words"),
    [
        (
            "convs.0.bias",
            torch.float64,
            "convs.0.bias is of torch.float64, where convs.0.lin.weight is of torch.fl",
        ),
        ("convs.0.weights.k", torch.float16, "convs.0.weights.k is of torch.float16, where"),
        ("convs.1.weights.k", torch.int64, "no dtype that a model is saved in"),
    ],
)
def test_mixed_dtypes_are_refused(tmp_path, changed, dtype, words):
    config, state = parts(PAN(5, 8, 3))
    with pytest.raises(ValueError, match=words):
        PAN.load(forged(tmp_path, config, {**state, changed: state[changed].to(dtype)}))


@pytest.mark.parametrize("weights", ["free", "boltzmann", "power-law", [0.1, 1.0, 1.0]])
@pytest.mark.parametrize("trials", [None, 2])
def test_path_weights_may_be_wider_and_stay_so(tmp_path, weights, trials):
    model = PAN(5, 8, 3, weights=weights, trials=trials)
    for conv in model.layers():
        conv.weights.double()
        for tensor in conv.weights.state_dict().values():
            tensor += 1e-12
    model.save(tmp_path)
    loaded = PAN.load(tmp_path)
    assert loaded.layers()[0].lin.weight.dtype == torch.float32
    for name, tensor in model.state_dict().items():
        found = {"loaded": loaded.state_dict()[name]}
        if trials:
            found["trials"] = torch.stack([loaded.trial(s).state_dict()[name] for s in range(trials)])
        for how, other in found.items():
            assert (other.dtype, other.tolist()) == (tensor.dtype, tensor.tolist()), (how, name)


def test_deep_json_and_large_headers_are_refused(tmp_path):
    config, state = parts(PAN(5, 8, 3))
    written = json.dumps({"format": "panconv-model-2", **config})
    for text in (NESTED, f'{written[:-1]}, "x": {NESTED}}}', f'{{"format": "panconv-model-2", "a": {NESTED}}}'):
        with pytest.raises(ValueError, match="its config is nested too deeply"):
            PAN.load(forged(tmp_path, text, state))
    with pytest.raises(ValueError, match=r"its header has 4,[\d,]+ bytes, more than 4,194,304"):
        PAN.load(forged(tmp_path, written + " " * 2**22, state))
    (tmp_path / "model.safetensors").write_bytes((2**60).to_bytes(8, "little") + b"{}")
    with pytest.raises(ValueError, match="it is cut short or no safetensors file, with 10 bytes"):
        PAN.load(tmp_path)
    shutil.copytree(FIXTURES / "model-1", tmp_path / "former")
    with (tmp_path / "former" / "config.json").open("w") as file:
        file.write(NESTED)
    with pytest.raises(ValueError, match="its config is nested too deeply"):
        PAN.load(tmp_path / "former")
    os.truncate(tmp_path / "former" / "config.json", 2**40)
    with pytest.raises(ValueError, match=r"config\.json has more than"):
        PAN.load(tmp_path / "former")


def test_settings_that_would_not_load_are_not_written(tmp_path, monkeypatch):
    monkeypatch.setattr(saving, "_LARGEST_HEADER", 500)
    with pytest.raises(ValueError, match="more than the 500 that a file may have"):
        PAN(5, 8, 3).save(tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_what_is_no_file_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe.safetensors")
    pipe = os.open(tmp_path / "pipe.safetensors", os.O_RDWR)
    os.write(pipe, b"\0" * 8)  # so that who reads it nonetheless does not wait
    with pytest.raises(ValueError, match="it is not an ordinary file"):
        PAN.load(tmp_path / "pipe.safetensors")
    os.close(pipe)
    for path, words in (
        (tmp_path / "none", "No such file"),
        (tmp_path / ("n" * 300), "name too long"),
        ("a\0", "null"),
    ):
        with pytest.raises(ValueError, match=f"holds no saved model: .*{words}"):
            PAN.load(path)


def test_a_model_without_numbers_is_not_saved(tmp_path):
    for model in (PAN(-1, 8, 3), PAN(5, 8, 3).to("meta")):
        with pytest.raises(ValueError, match="the model has no numbers yet"):
            model.save(tmp_path / "model")
    assert not os.listdir(tmp_path)


def test_settings_in_numbers_of_numpy(tmp_path):
    model = PAN(np.int64(5), np.int32(8), 3, dropout=np.float32(0.5), weights={"kind": "free", "k": np.ones(3)})
    model.save(tmp_path)
    loaded = PAN.load(tmp_path).config
    assert (loaded["in_channels"], loaded["dropout"], loaded["weights"]["k"]) == (5, 0.5, [1, 1, 1])
    with pytest.raises(TypeError, match="settings must be plain to be saved, got <object"):
        PAN(5, 8, 3, paths={"kind": "shortest", "memory_limit": object()}).save(tmp_path)


def test_a_full_disk_leaves_the_model_that_was_there(tmp_path, monkeypatch):
    old, new = PAN(5, 8, 3), PAN(5, 9, 3)
    old.save(tmp_path)

    def full(path, content):
        with path.open("wb") as file:
            file.write(content[: len(content) // 2])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(ValueError, match=r"model.safetensors: the disk is full; make room"):
        new.save(tmp_path)
    assert os.listdir(tmp_path) == ["model.safetensors"]
    assert PAN.load(tmp_path).config == old.config


def test_damaged_and_made_up_files_load_rightly_or_are_refused():
    script = [sys.executable, fuzz_models.__file__, "--cases", "150"]
    done = subprocess.run(script, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    tally = json.loads(done.stdout)
    assert tally["loaded"] > 15
    assert tally["refused"] > 75
