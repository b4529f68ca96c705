import hashlib
import json
import os
import shutil

import fuzz_model_folders
import numpy as np
import pytest
import torch
from safetensors.torch import load as parsed
from safetensors.torch import save as serialised

from panconv import PANClassifier, load_model
from panconv.estimator.folder import files

BOTH = ("model.json", "model.safetensors")


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    random = np.random.default_rng(0)
    clf = PANClassifier("linear", L=1, cv=2).fit(random.normal(size=(12, 2)), np.arange(12) % 2)
    path = tmp_path_factory.mktemp("saved") / "model"
    clf.save(path)
    return path


@pytest.fixture
def folder(saved, tmp_path):
    return shutil.copytree(saved, tmp_path / "model")


def refused(folder, name, why="holds"):
    with pytest.raises(ValueError, match=why) as told:
        load_model(folder)
    said = str(told.value)
    assert said.startswith(f"{folder / name} holds no saved model: ")
    assert "\n" not in said
    assert len(said) < len(str(folder)) + 500


def changed(folder, change):
    """With another content, and the tensors that are there."""
    content = json.loads((folder / "model.json").read_text())
    change(content)
    content["sha256"] = hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()
    (folder / "model.json").write_text(json.dumps(content))


@pytest.mark.parametrize("name", BOTH)
@pytest.mark.parametrize("share", [0.0, 0.01, 0.3, 0.7, 0.999])
def test_a_file_that_is_cut_short(folder, name, share):
    data = (folder / name).read_bytes()
    (folder / name).write_bytes(data[: int(share * len(data))])
    refused(folder, name)


@pytest.mark.parametrize("name", BOTH)
def test_what_is_no_ordinary_file(folder, name):
    kept = (folder / name).read_bytes()
    (folder / name).unlink()
    if name == "model.safetensors":
        refused(folder, name, "No such file")
    else:
        with pytest.raises(ValueError, match="holds no saved model"):  # it might be that of a PAN
            load_model(folder)
    (folder.parent / "there").write_bytes(kept)
    for target in ("../there", "/dev/zero", "nowhere", name):
        os.symlink(target, folder / name)
        refused(folder, name, "it is a link: copy the file that it leads to")
        (folder / name).unlink()
    os.mkfifo(folder / name)
    refused(folder, name, "it is not an ordinary file")
    (folder / name).unlink()
    (folder / name).mkdir()
    refused(folder, name)


def test_tensors_of_another_model_or_none(folder, tmp_path):
    data = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    refused(folder, "model.safetensors", "it is not the file that model.json was written with")
    state = parsed(data)
    for name, change, why in (
        ("coefs.0", lambda t: t.float(), r"its 'coefs.0' must be \(2, 2\), it is \(2, 2\) of torch.float32"),
        ("coefs.0", lambda t: t.T[:1], r"must be \(2, 2\), it is \(1, 2\)"),
        ("coefs.0", lambda t: t * torch.nan, "holds NaN or infinite numbers"),
        ("doubts", lambda t: t.flip(0) + torch.arange(len(t), 0, -1), "must be in ascending order"),
        ("held_out.rows", lambda t: t[1:], "must be"),
        ("more", lambda t: torch.zeros(1), "it has a tensor 'more', which its settings do not ask for"),
    ):
        damaged = {**state, name: change(state.get(name))}
        (folder / "model.safetensors").write_bytes(serialised({k: t.contiguous() for k, t in damaged.items()}))
        changed(folder, lambda content: None)
        refused(folder, "model.json", why)
    (folder / "model.safetensors").write_bytes((2**40).to_bytes(8, "little") + data[8:])
    refused(folder, "model.safetensors", "it is cut short or no safetensors file")
    header = b"{" + b" " * 2**23 + b"}"
    (folder / "model.safetensors").write_bytes(len(header).to_bytes(8, "little") + header)
    refused(folder, "model.safetensors", "its header has 8,388,610 bytes, more than 4,194,304")


def test_bombs(folder):
    text = (folder / "model.json").read_text()
    for bomb, why in (
        ("[" * 10**6, "nested too deeply"),
        ('{"a":' * 10**6, "nested too deeply"),
        (text.replace('"temperature": ', '"temperature": 1e999, "was": '), "must be a number, got inf"),
        (text.replace('"temperature": ', '"temperature": NaN, "was": '), "it holds NaN"),
        (text.replace('"version": 1', f'"version": {"9" * 10**5}'), "digits"),
        (text + " " * files._LARGEST, "it has more than 16,777,216 bytes"),
        ("\ufeff\0", "Expecting value"),
    ):
        (folder / "model.json").write_text(bomb)
        refused(folder, "model.json", why)


def test_a_number_of_features_that_no_tensor_has(tmp_path):
    """None of them is named before that is known: there would be gigabytes of names."""
    content, state, _ = fuzz_model_folders.bases()[3]
    assert content["features"]["names"] is None
    files.write(tmp_path / "model", {**content, "features": {**content["features"], "count": 2**31 - 1}}, state, {})
    with fuzz_model_folders.limited_memory():
        refused(tmp_path / "model", "model.json", r"its 'coefs.0' must be \(2147483647, 2\)")


def test_names_that_lead_away(folder):
    for name in ("../model.json", "/etc/passwd", "a/b", "..", "C:\\x", 5):
        changed(folder, lambda content, name=name: content["files"].append(name))
        refused(folder, "model.json")
        changed(folder, lambda content: content["files"].pop())
    load_model(folder)


def test_a_tensor_file_that_would_not_fit_into_memory(folder, monkeypatch):
    monkeypatch.setattr(files, "free_bytes", lambda device: 100)
    refused(folder, "model.safetensors", "more than there is memory for")


def test_a_folder_that_is_replaced_while_it_is_read(folder, saved, monkeypatch):
    """Its settings are those of the former model, its tensors those of the new one: it is read anew."""
    other = PANClassifier("linear", L=1, cv=2).fit(np.random.default_rng(1).normal(size=(12, 2)), np.arange(12) % 2)
    tensors, calls = files._tensors, []

    def replaced(path, digest):
        calls.append(digest)
        if len(calls) == 1:
            other.save(path)
        return tensors(path, digest)

    monkeypatch.setattr(files, "_tensors", replaced)
    X = np.random.default_rng(2).normal(size=(5, 2))
    np.testing.assert_array_equal(load_model(folder).predict_proba(X), other.predict_proba(X))
    assert len(calls) == 2


def test_wrong_types_at_every_key(tmp_path):
    """Parameters may be anything until `fit` looks at them, and what is only told, as who wrote it, is not used."""
    content, state, _ = fuzz_model_folders.bases()[0]
    files.write(tmp_path / "model", content, state, {})
    content = json.loads((tmp_path / "model" / "model.json").read_text())
    # Of a list one place will do for all.
    places = {tuple("*" if isinstance(key, int) else key for key in path): path for path in map(tuple, placed(content))}
    assert len(places) > 60
    for path in places.values():
        kind = type(fuzz_model_folders.holder(content, path)[path[-1]])
        for wrong in ({"a": 1}, True, *(() if kind is type(None) else ([[1]], "text", -7.5))):
            if type(wrong) is not kind and (kind, type(wrong)) != (int, float):
                said = json.loads(json.dumps(content))
                fuzz_model_folders.holder(said, path)[path[-1]] = wrong
                (tmp_path / "model" / "model.json").write_text(json.dumps(said))
                with pytest.raises(ValueError, match="holds no saved model"):
                    load_model(tmp_path / "model")


def placed(content):
    told = ("parameters", "panconv", "left_out")
    return [path for path in fuzz_model_folders.places(content) if path[0] not in told]


def test_damaged_and_made_up_folders_load_rightly_or_are_refused():
    found = fuzz_model_folders.main(120, 0)
    assert not found["failed"]
    assert found["loaded"] > 20
    assert found["refused"] > 50
