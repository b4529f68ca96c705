"""Two tables in, a model folder out; the same folder asked about the same graph, a changed one and a new one."""

import csv
import json
import os
import shutil
import sys

import numpy as np
import pytest
from in_process import call

from panconv.base.checks import checked_device
from panconv.cli import given
from panconv.estimator.pages import report_page as page

COLUMNS = "source=payer,target=payee,id=key"


def town(folder, name, N=60, seed=0, labelled=3, age=False):
    """Edges within two neighbourhoods and a few between; columns that tell them apart a little; labels of some."""
    rng = np.random.default_rng(seed)
    side = np.arange(N) % 2
    near = [side[i] ^ (rng.random() < 0.15) for i in range(N) for _ in range(2)]
    pairs = [(n // 2, int(rng.choice(np.flatnonzero(side == s)))) for n, s in enumerate(near)]
    with (folder / f"{name}-edges.csv").open("w", newline="") as file:
        once = {frozenset(pair): pair for pair in pairs if pair[0] != pair[1]}
        lines = [(f"{name}{i}", f"{name}{j}") for i, j in once.values()]
        csv.writer(file).writerows([("note", "payer", "payee"), *((n, *line) for n, line in enumerate(lines))])
    real = [("=shop" if s else "home") if not age else f"{40 * s + rng.normal():.3f}" for s in side]
    with (folder / f"{name}-nodes.csv").open("w", newline="") as file:
        rows = [
            (f"{name}{i}", round(side[i] + rng.normal(), 3), real[i] if labelled and i % labelled else "")
            for i in range(N)
        ]
        csv.writer(file).writerows([("key", "income", "kind"), *rows])
    with (folder / f"{name}-truth.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("id", "label"), *((f"{name}{i}", real[i]) for i in range(N))])


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Two towns, and a model of the first."""
    folder = tmp_path_factory.mktemp("towns")
    town(folder, "m-")
    town(folder, "x-", N=20, seed=1, labelled=0)
    done = call(*FIT, "--json", "m.json", cwd=folder)
    assert done.code == 0, done.stderr
    (folder / "said.txt").write_text(done.stdout)
    return folder


TABLES = ("m--edges.csv", "m--nodes.csv")
FIT = ("fit", *TABLES, "--label", "kind", "--columns", COLUMNS, "--head", "linear", "--out", "model")


NEW = ("{}/x--edges.csv", "{}/x--nodes.csv")


def rows_of(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_the_folder(place):
    said = " ".join((place / "said.txt").read_text().split())
    names = {path.name for path in (place / "model").iterdir()}
    model = {"model.safetensors", "model.json", "known.json", "run.toml"}
    assert names == model | {"README.md", "predicted.csv", "report.html"}
    rows, nodes = rows_of(place / "model/predicted.csv"), rows_of(place / "m--nodes.csv")
    assert [row["id"] for row in rows] == [row["key"] for row in nodes]
    assert [row["known"] == "yes" for row in rows] == [bool(row["kind"]) for row in nodes]
    assert {row["class"] for row in rows} == {"'=shop", "home"}
    record = json.loads((place / "m.json").read_text())
    share = record["figures"]["accuracy"]["head 'linear'"]["value"]
    assert 0.6 < share < 1
    assert f"head 'linear' {100 * share:.1f} %" in said
    assert record["figures"]["verdict"] in said
    assert record["figures"]["verdict"] in (place / "model/README.md").read_text()
    assert f"{100 * share:.1f} %" in (place / "model/report.html").read_text()
    assert record["labels"] == 40


def test_a_run_is_repeated(place, tmp_path):
    done = call("fit", "--config", place / "model/run.toml", "--out", "again", "--seed", 0, cwd=tmp_path)
    assert done.code == 0, done.stderr
    for name in ("model.safetensors", "predicted.csv", "report.html", "README.md"):
        assert (tmp_path / "again" / name).read_bytes() == (place / "model" / name).read_bytes(), name
    before = (tmp_path / "again/run.toml").read_text()
    done = call("fit", "--config", "again", "--seed", 5, "--json", "a.json", cwd=tmp_path)  # in its place
    assert done.code == 0, done.stderr
    assert (tmp_path / "again/run.toml").read_text() == before.replace("seed = 0", "seed = 5")
    assert json.loads((tmp_path / "a.json").read_text())["run"]["label"] == "kind"


def test_the_device(place, tmp_path, monkeypatch):
    """By default a GPU where there is one; what is typed is repeated, and model.json says what it came to."""
    parameters = json.loads((place / "model/model.json").read_text())["parameters"]
    assert parameters["device"] == str(checked_device("auto"))
    assert "device" not in (place / "model/run.toml").read_text()
    tables = [place / name for name in TABLES]
    done = call("fit", *tables, *FIT[3:], "--device", "cpu", cwd=tmp_path)
    assert done.code == 0, done.stderr
    assert '\ndevice = "cpu"\n' in (tmp_path / "model/run.toml").read_text()
    monkeypatch.setattr(given, "whole", None)  # reading would fail
    for device, message in (("warp", "must be one of auto, cpu, cuda, got 'warp'"), ("cuda:99", "try --device cpu")):
        done = call("fit", "--config", "model", "--device", device, cwd=tmp_path)
        assert (done.code, len(done.stderr.splitlines())) == (2, 1)
        assert message in done.stderr


def test_predict_says_what_fit_said(place, tmp_path):
    done = call("predict", place / "model", "--out", "p.csv", cwd=tmp_path)
    assert done.code == 0, done.stderr
    assert (tmp_path / "p.csv").read_bytes() == (place / "model/predicted.csv").read_bytes()
    assert "of 40 nodes whose label it learned from, which says little" in " ".join(done.stdout.split())
    (tmp_path / "ids.txt").write_text("m-7\n\nm-3\n")
    for option in (("--nodes", "ids.txt"), ("--ids", "m-7, m-3")):
        done = call("predict", place / "model", *option, "--out", "some.csv", cwd=tmp_path)
        assert done.code == 0, done.stderr
        every = rows_of(tmp_path / "p.csv")
        assert rows_of(tmp_path / "some.csv") == [every[7], every[3]]


def test_what_was_learned_from_does_not_depend_on_predicted_csv(place, tmp_path):
    for name in ("model", *TABLES):
        (shutil.copytree if name == "model" else shutil.copy)(place / name, tmp_path / name)
    first = call("predict", "model", "--out", "p.csv", cwd=tmp_path)
    for change in (
        lambda file: file.write_text("id,class,known\nm-1,home,no\n"),
        lambda file: file.unlink(),
    ):
        change(tmp_path / "model/predicted.csv")
        again = call("predict", "model", "--out", "p.csv", cwd=tmp_path)
        assert again.code == 0, again.stderr
        assert again.stdout == first.stdout
        assert (tmp_path / "p.csv").read_bytes() == (place / "model/predicted.csv").read_bytes()


def test_without_known_json_nothing_is_called_fresh(place, tmp_path):
    shutil.copytree(place / "model", tmp_path / "model")
    (tmp_path / "model/known.json").unlink()
    tables = [place / name for name in TABLES]
    asked = ("--truth", place / "m--truth.csv", "--out", "p.csv", "--json", "p.json")
    done = call("predict", "model", *tables, *asked, cwd=tmp_path)
    assert done.code == 0, done.stderr
    assert "of 60 nodes with a label; which of them it learned from is not known" in " ".join(done.stdout.split())
    (found,) = json.loads((tmp_path / "p.json").read_text())["compared"]
    assert (found["nodes"], found["count"]) == ("with a label", 60)
    assert {(row["known"], row["hops"]) for row in rows_of(tmp_path / "p.csv")} == {("", "")}


def test_nothing_is_written_into_the_model_folder(place, tmp_path):
    shutil.copytree(place / "model", tmp_path / "model")
    (tmp_path / "link").symlink_to("model")
    before = {path.name: path.read_bytes() for path in (tmp_path / "model").iterdir()}
    tables = [place / name for name in TABLES]
    for command in (
        ("predict", "model", *tables, "--out", "model/predicted.csv"),
        ("predict", "model", *tables, "--json", "link/new/p.json"),
        ("explain", "link", "m-1", *tables, "--html", "model/why.html"),
        ("fit", *tables, *FIT[3:], "--json", "model/m.json"),
    ):
        done = call(*command, cwd=tmp_path)
        assert done.code == 2, command
        assert f"{command[-1]} would be in the model folder" in done.stderr
    assert {path.name: path.read_bytes() for path in (tmp_path / "model").iterdir()} == before


def test_a_folder_that_may_not_be_replaced_is_refused_before_the_work(place, tmp_path, monkeypatch):
    for name in ("model", *TABLES):
        (shutil.copytree if name == "model" else shutil.copy)(place / name, tmp_path / name)
    (tmp_path / "model/why.html").write_text("mine")
    monkeypatch.setattr(given, "whole", None)  # reading would fail
    for command in (FIT, ("fit", "--config", "model")):
        done = call(*command, cwd=tmp_path)
        assert done.code == 2
        assert "model holds 'why.html', which is not of the model there: move it, or name another" in done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere names of files are always Unicode")
def test_a_name_that_is_no_utf_8_is_refused_before_the_work(place, tmp_path, monkeypatch):
    odd = os.fsdecode(b"caf\xe9-edges.csv")
    shutil.copy(place / TABLES[0], tmp_path / odd)
    monkeypatch.setattr(given, "whole", None)  # reading would fail
    done = call("fit", odd, place / TABLES[1], *FIT[3:], cwd=tmp_path)
    assert done.code == 2
    assert len(done.stderr.splitlines()) == 1
    assert "the path 'caf\\udce9-edges.csv' is not UTF-8" in done.stderr


def test_predict_beside_the_truth(place, tmp_path):
    done = call("predict", place / "model", "--truth", place / "m--truth.csv", "--json", "p.json", cwd=tmp_path)
    assert done.code == 0, done.stderr
    fresh, every = json.loads((tmp_path / "p.json").read_text())["compared"]
    rows, truth = rows_of(place / "model/predicted.csv"), rows_of(place / "m--truth.csv")
    right = [one["class"].lstrip("'") == other["label"] for one, other in zip(rows, truth, strict=True)]
    unknown = [each for each, row in zip(right, rows, strict=True) if row["known"] == "no"]
    assert (fresh["nodes"], fresh["count"], fresh["accuracy"]) == ("not learned from", 20, sum(unknown) / 20)
    assert (every["nodes"], every["count"], every["accuracy"]) == ("all with a label", 60, sum(right) / 60)
    assert f"right: {100 * sum(unknown) / 20:.1f} %" in done.stdout


def test_predict_of_another_graph(place, tmp_path):
    """Its columns are those of run.toml; that of the labels may be missing."""
    for name in ("x--edges.csv", "x--nodes.csv"):
        shutil.copy(place / name, tmp_path)
    lines = (tmp_path / "x--nodes.csv").read_text().splitlines()
    (tmp_path / "x--nodes.csv").write_text("\n".join(line.rsplit(",", 1)[0] for line in lines) + "\n")
    done = call("predict", place / "model", "x--edges.csv", "x--nodes.csv", "--out", "p.csv", cwd=tmp_path)
    assert done.code == 0, done.stderr
    assert "edges lead" not in done.stdout
    rows = rows_of(tmp_path / "p.csv")
    assert [row["id"] for row in rows] == [f"x-{i}" for i in range(20)]
    assert {(row["known"], row["hops"]) for row in rows} == {("no", "")}
    truth = [row["label"] for row in rows_of(place / "x--truth.csv")]
    assert sum(row["class"].lstrip("'") == real for row, real in zip(rows, truth, strict=True)) > 12
    done = call("predict", place / "model", "x--edges.csv", cwd=tmp_path)
    assert done.code == 2
    assert "has no column 'income', which the features were learned from" in done.stderr


def test_tables_that_have_changed_or_gone(place, tmp_path):
    for name in ("model", *TABLES):
        (shutil.copytree if name == "model" else shutil.copy)(place / name, tmp_path / name)
    with (tmp_path / TABLES[0]).open("a") as file:
        file.write("0,m-0,m-3\n")
    done = call("predict", "model", "--ids", "m-3", cwd=tmp_path)
    assert done.code == 0, done.stderr
    assert done.stderr == f"panconv: {tmp_path / TABLES[0]} has changed since the model was fitted\n"
    done = call("fit", "--config", "model", "--out", "new", cwd=tmp_path)
    assert f"{tmp_path / TABLES[0]} is not what it was when run.toml was written" in done.stderr
    (tmp_path / TABLES[0]).unlink()
    for command in (("predict", "model"), ("explain", "model", "m-3")):
        done = call(*command, cwd=tmp_path)
        assert done.code == 2
        assert "from which the model learned, is not there any more: name EDGES and NODES" in done.stderr


def test_strict_stops_at_what_is_wrong_in_a_later_table(place, tmp_path):
    for name in ("x--edges.csv", "x--nodes.csv"):
        shutil.copy(place / name, tmp_path)
    with (tmp_path / "x--edges.csv").open("a") as file:
        file.write("0,x-3,x-3\n")
    for command in (("predict", place / "model"), ("explain", place / "model", "x-3")):
        command = *command, "x--edges.csv", "x--nodes.csv"
        done = call(*command, cwd=tmp_path)
        assert (done.code, done.stdout != "") == (0, True)
        assert "1 edge from a node to itself: left out" in done.stderr
        done = call(*command, "--strict", cwd=tmp_path)
        assert (done.code, done.stdout) == (2, "")
        assert "1 edge from a node to itself; mend it, or read without strict" in done.stderr


def test_explain(place, tmp_path):
    done = call("explain", place / "model", "m-4", "--top", 3, "--html", "w.html", "--json", "w.json", cwd=tmp_path)
    assert done.code == 0, done.stderr
    one = json.loads((tmp_path / "w.json").read_text())
    said = next(row for row in rows_of(place / "model/predicted.csv") if row["id"] == "m-4")
    assert one["label"] == said["class"].lstrip("'")
    assert one["probability"] == pytest.approx(float(said["probability"]), abs=1e-6)
    assert one["bias"] + sum(one["lengths"]) == pytest.approx(one["score"])
    assert len(one["paths"]) == 3
    assert done.stdout.startswith(f"m-4: {one['label']}, probability")
    assert "m-4" in (tmp_path / "w.html").read_text()
    other = call(
        "explain", place / "model", "m-4", "--label", "=shop", *(place / name for name in TABLES), cwd=tmp_path
    )
    assert "\nm-4: =shop, probability" in f"\n{other.stdout}"


def test_numbers(tmp_path):
    town(tmp_path, "m-", age=True)
    done = call(*FIT, "--regression", "--json", "m.json", cwd=tmp_path)
    assert done.code == 0, done.stderr
    found = json.loads((tmp_path / "m.json").read_text())["figures"]
    head = found["fits"]["head 'linear'"]
    assert f"{head['r2']['value']:.3f}" in done.stdout
    assert [*rows_of(tmp_path / "model/predicted.csv")[0]] == ["id", "value", "known", "hops"]
    done = call("predict", "model", "--truth", "m--truth.csv", "--json", "p.json", cwd=tmp_path)
    assert done.code == 0, done.stderr
    fresh, every = json.loads((tmp_path / "p.json").read_text())["compared"]
    assert fresh["count"] == 20
    assert 0 < fresh["r2"] < 1
    assert 0 < every["r2"] < 1
    done = call("explain", "model", "m-3", cwd=tmp_path)
    assert done.stdout.startswith("m-3\nscore ")
    (tmp_path / "few.csv").write_text("id;label\nm-1;40,5\nm-2;NA\nm-3;?\n")
    done = call("predict", "model", "--truth", "few.csv", cwd=tmp_path)
    assert "absolute error" in done.stdout
    assert "of 1 nodes whose label it learned from" in " ".join(done.stdout.split())
    (tmp_path / "few.csv").write_text("id,label\nm-1,40.5\nm-2,abc\n")
    done = call("predict", "model", "--truth", "few.csv", cwd=tmp_path)
    assert (done.code, done.stdout) == (2, "")  # before anything is answered
    assert "few.csv, line 3, column 'label': 'abc' is no number" in done.stderr


def test_numbers_below_0_and_with_a_decimal_comma(tmp_path):
    """Of a model folder that does not say it was of numbers too, since the model itself does."""
    town(tmp_path, "m-", age=True)
    rows = [f"m-{i};{i % 2};{('-1', '0', '2,5')[i % 7 % 3] if i % 3 else '?'}" for i in range(60)]
    (tmp_path / "m--nodes.csv").write_text("\n".join(["key;income;kind", *rows]))
    done = call(*FIT, "--regression", "--strict", "--json", "m.json", cwd=tmp_path)
    assert done.code == 0, done.stderr
    assert not done.stderr.strip()
    assert json.loads((tmp_path / "m.json").read_text())["labels"] == 40
    (tmp_path / "model/run.toml").unlink()
    done = call("predict", "model", *TABLES, "--label", "kind", "--columns", COLUMNS, "--json", "p.json", cwd=tmp_path)
    assert (done.code, done.stderr.strip()) == (0, "")
    (every,) = json.loads((tmp_path / "p.json").read_text())["compared"]
    assert every["count"] == 40


def test_the_folder_appears_whole_or_not_at_all(place, tmp_path, monkeypatch):
    shutil.copytree(place / "model", tmp_path / "model")
    before = {path.name: path.read_bytes() for path in (tmp_path / "model").iterdir()}

    def fails(*_, **__):
        raise OSError("the page cannot be made")

    monkeypatch.setattr(page, "report_page", fails)
    tables = (place / name for name in TABLES)
    for out in ("model", "new"):
        done = call("fit", *tables, *FIT[3:-1], out, cwd=tmp_path)
        assert done.code == 2
    assert {path.name: path.read_bytes() for path in (tmp_path / "model").iterdir()} == before
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("fit", "--seed", 1), "there is nothing to learn from"),
        (("fit", "coar", "--out", "m"), "did you mean 'cora'?"),
        (("fit", "cora"), "--out is missing: name a folder"),
        (("fit", "cora", "--out", "m", "--label", "x"), "go with tables, not with 'cora'"),
        (("fit", "{}/m--edgs.csv", "{}/m--nodes.csv", "--out", "m"), "m--edges.csv'?"),
        (("fit", "{}/m--edges.csv", "--out", "m"), "the labels are in a table of nodes"),
        (
            ("fit", "{}/m--edges.csv", "{}/m--nodes.csv", "--out", "m", "--columns", COLUMNS),
            "name it with --label; there",
        ),
        (("fit", "{}/m--edges.csv", "{}/m--nodes.csv", "--out", "m", "--label", "knid"), "did you mean 'kind'?"),
        (("fit", "cora", "--out", "m", "--head", "deep"), "--head must be one of linear, pan, auto, got 'deep'"),
        (("fit", "cora", "--out", "m", "--budget", "5"), "--budget must be a time above 0, such as 90s"),
        (("fit", "cora", "--out", "{}"), "holds something else than a model"),
        (("fit", "--config", "{}/model/rum.toml"), "run.toml'?"),
        (("predict", "{}/modle"), "the model folder"),
        (("predict", "{}"), "is no folder of a model"),
        (("predict", "{}/m--nodes.csv"), "is no folder of a model"),
        (("predict", "{}/model", "--ids", "m-99"), "there is no node 'm-99': did you mean"),
        (("predict", "{}/model", "--ids", ","), "--ids names no node"),
        (("predict", "{}/model", "--ids", "a", "--nodes", "b"), "leave one out"),
        (("predict", "{}/model", "--nodes", "b"), "--nodes 'b' is not there"),
        (("predict", "{}/model", "--truth", "{}/truth.csv"), "--truth"),
        (("predict", "{}/model", *NEW, "--label", "knid"), "did you mean 'kind'?"),
        (("predict", "{}/model", "--truth", "{}/x--truth.csv"), "names none of the nodes"),
        (("explain", "{}/model", "m-99"), "there is no node 'm-99'"),
        (("explain", "{}/model", "m-1", "--label", "=shpo"), "did you mean '=shop'?"),
        (("explain", "{}/model", "m-1", "--top", -1), "--top must be at least 0"),
    ],
)
def test_mistakes_are_one_line_and_exit_code_2(place, tmp_path, arguments, message):
    done = call(*(str(each).format(place) for each in arguments), cwd=tmp_path)
    assert done.code == 2, done.stderr
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not [*tmp_path.iterdir()]


def test_a_column_of_labels_that_is_there_and_empty(place, tmp_path):
    for more, what in (((), "label"), (("--regression",), "number")):
        done = call("fit", *(place / name.replace("m-", "x-") for name in TABLES), *FIT[3:], *more, cwd=tmp_path)
        assert done.code == 2
        assert f"the column 'kind' has no {what}, of any node: fill in those that are known" in done.stderr


@pytest.mark.slow
def test_cora_as_its_owner_would_have_it(tmp_path):
    assert call("data", "export", "cora", "--csv", "--out", "cora", cwd=tmp_path).code == 0
    test = [row["id"] for row in rows_of(tmp_path / "cora/truth.csv") if row["part"] == "test"]
    (tmp_path / "test.txt").write_text("\n".join(test))
    for head, least in (("linear", 0.81), ("pan", 0.82)):
        done = call("fit", "cora/edges.csv", "cora/nodes.csv", "--head", head, "--out", head, cwd=tmp_path)
        assert done.code == 0, done.stderr
        asked = ("--nodes", "test.txt", "--truth", "cora/truth.csv", "--json", "p.json")
        done = call("predict", head, "cora/edges.csv", "cora/nodes.csv", *asked, cwd=tmp_path)
        assert done.code == 0, done.stderr
        (found,) = json.loads((tmp_path / "p.json").read_text())["compared"]
        assert found["count"] == 1000
        assert found["accuracy"] > least
