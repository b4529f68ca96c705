import errno
import json
import os
import re
import sys
import warnings
from pathlib import Path

import pytest
import torch
from in_process import call
from terminal import run

from panconv import PAN, load
from panconv.cli import main
from panconv.records.record import Results


def test_train_prints_saves_and_writes(tmp_path):
    done = run(
        *("train", "Cora", "--method", 5, "--weights", "fixed", "--k", "0,1,1", "--trials", 2, "--epochs", 5),
        *("--json", "out/result.json", "--results", "records", "--save", "model", "--plot", "new/curves.png"),
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    for words in ("Cora", "2 trials", "82.0", "±", "0.00 1.00 1.00"):
        assert words in done.stdout
    assert "5/5" in done.stderr  # the bar's last state
    (record,) = json.loads((tmp_path / "out/result.json").read_text())["runs"]
    assert [100 * r.test_accuracy for r in Results(tmp_path / "records").read()] == record["test_accuracy"]
    assert record["dataset"] == "cora"
    assert record["k"] == [0, 1, 1]
    assert len(record["test_accuracy"]) == 2
    assert f"{record['mean']:.1f}" in done.stdout
    assert record["settings"]["epochs"] == 5
    assert record["settings"]["weight_decay"] == 5e-3
    model, data = PAN.load(tmp_path / "model"), load("cora")
    accuracy = (model(data.x, data.edge_index).argmax(1) == data.y)[data.test_mask].double().mean()
    assert any(float(100 * accuracy) == pytest.approx(a, abs=0.11) for a in record["test_accuracy"])
    assert (tmp_path / "new/curves.png").stat().st_size > 10_000


def test_several_graphs_other_methods_and_repeatable(tmp_path):
    arguments = ("train", "cora", "citeseer", "--method", 2, "--trials", 2, "--epochs", 3, "--seed", 7)
    for name, started in (("a", run), ("b", call)):  # in two processes, this one and another
        done = started(*arguments, "--json", f"{name}.json", "--save", f"models-{name}", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    a, b = (json.loads((tmp_path / f"{name}.json").read_text())["runs"] for name in ("a", "b"))
    for one, two in zip(a, b, strict=True):
        assert one["seeds"] == [7, 8]
        assert {**one, "seconds": 0} == {**two, "seconds": 0}
    assert sum(a[0]["path_weights"][0]) == pytest.approx(1, abs=1e-3)  # eq. 2: shares, to four digits
    assert os.listdir(tmp_path / "models-a/citeseer") == ["model.safetensors"]


@pytest.mark.parametrize("full", [".safetensors", ".json", ".jsonl"])
def test_a_full_disk_loses_no_other_output(tmp_path, monkeypatch, capsys, full):
    def failing(write):
        def call(path, content, **how):
            if path.suffix == full:
                raise OSError(errno.ENOSPC, "No space left on device")
            return write(path, content, **how)

        return call

    for write in (Path.write_bytes, Path.write_text):
        monkeypatch.setattr(Path, write.__name__, failing(write))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)  # which `main` sets
    options = ["--trials", "1", "--epochs", "1", "--json", "out.json", "--results", "runs", "--save", "model"]
    monkeypatch.setattr(sys, "argv", ["panconv", "train", "cora", *options])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    said = capsys.readouterr()
    assert re.search(rf"^panconv: cannot write \S+{full}: the disk is full; make room, .*$", said.err, re.MULTILINE)
    assert "Cora" in said.out
    written = {path.suffix for path in tmp_path.rglob("*") if path.is_file()}
    assert written == {".safetensors", ".json", ".jsonl"} - {full}


def test_data_lists_the_graphs(tmp_path):
    done = call("data", cwd=tmp_path)
    assert done.returncode == 0
    for words in ("cora", "2,708", "44,324", "140 / 500 / 1,000"):
        assert words in done.stdout
    assert json.loads(call("data", "--json", cwd=tmp_path).stdout)["pubmed"]["edges"] == 44324


def test_help_reads_well(tmp_path):
    for started, arguments in ((call, ()), (run, ("--help",))):
        done = started(*arguments, cwd=tmp_path)
        assert done.returncode == 0
        assert "train" in done.stdout
        assert not done.stderr
    assert "--trials" in call("train", "--help", cwd=tmp_path).stdout
    assert call("--version", cwd=tmp_path).stdout.strip()[0].isdigit()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("train", "coda"), "'coda' is neither a built-in graph (cora, citeseer, pubmed) nor a folder"),
        (("train", "cora", "--method", "12"), "method must be one of 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, got 12"),
        (("train", "cora", "--L", "-1"), "L must be at least 0"),
        (("train", "cora", "--L", "x"), "--L"),
        (("train", "cora", "--k", "0,1", "--L", "2"), "weights must have L+1 = 3 entries"),
        (("train", "cora", "--k", "0,one"), "--k must be numbers with commas between them"),
        (("train", "cora", "--k", "0,nan,1"), "weights must be text, finite numbers"),
        (("train", "cora", "--weights", "fixed"), "--weights fixed goes with --k"),
        (("train", "cora", "--weights", "free", "--k", "1,1,1"), "--weights fixed goes with --k"),
        (("train", "cora", "--weights", "warm"), "--weights must be one of free, fixed"),
        (("train", "cora", "--method", "1", "--weights", "free"), "use Boltzmann weights"),
        (("train", "cora", "--trials", "0"), "--trials must be at least 1, got 0"),
        (("train", "cora", "--epochs", "0"), "epochs must be a whole number between 1 and 1,000,000, got 0"),
        (("train", "cora", "--lr", "inf"), "lr must be positive"),
        (("train", "cora", "--seed", "-1"), "seed must be a whole number of at least 0, got -1"),
        (("train", "cora", "--device", "meta"), "--device must be one of auto, cpu, cuda, got 'meta'"),
        (("train", "cora", "--json", "a/b", "--save", "a/b"), "--json and --save cannot share a/b"),
        (("train", "cora", "--json", "m.safetensors", "--save", "m.safetensors"), "cannot share m.safetensors"),
        (("train", "cora", "citeseer", "--save", "m.safetensors"), "--save must be a folder where there are several"),
        (("train", "a/broken", "b/broken", "--save", "m"), "two are alike: train them one by one"),
        (("train", "cora", "--dropout", "1"), "dropout must be at least 0 and below 1, got 1.0"),
        (("train", "cora", "--hidden", "0"), "hidden must be a whole number of at least 1, got 0"),
        (("train", "cora", "--device", "warp"), "--device must be one of auto, cpu, cuda, got 'warp'"),
        (("train", "cora", "--json", "file/below"), "cannot write file/below"),
        (("train", "cora", "--save", "file"), "cannot write file/model.safetensors"),
        (("train", "cora", "--plot", "curves.xyz"), "--plot must end in"),
        (("train", "broken"), "broken holds no Planetoid graph"),
        (("trian", "cora"), "there is no command 'trian': did you mean 'train'?"),
        (("train", "cora", "--speed", "9"), "there is no option '--speed'"),
    ],
)
def test_mistakes_are_one_line_and_exit_code_2(tmp_path, arguments, message):
    (tmp_path / "file").write_text("mine")
    (tmp_path / "broken").mkdir()
    done = call(*arguments, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert message in done.stderr
    assert done.stderr.startswith("panconv: ")
    assert len(done.stderr.splitlines()) == 1
    assert not done.stdout
    assert (tmp_path / "file").read_text() == "mine"
    assert sorted(os.listdir(tmp_path)) == ["broken", "file"]


def test_a_traceback_for_who_wants_one(tmp_path):
    assert "Traceback" in run("train", "coda", cwd=tmp_path, PANCONV_DEBUG="1").stderr


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has CUDA")
def test_no_cuda_is_said_plainly(tmp_path):
    done = call("train", "cora", "--device", "cuda", cwd=tmp_path)
    assert done.returncode == 2
    assert "try --device cpu" in done.stderr
