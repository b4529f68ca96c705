import json
import os
import subprocess

import pytest
from in_process import call
from terminal import command, run, surroundings

from panconv.records.record import Results

QUICK = ("reproduce", "table3", "--quick", "--datasets", "cora")


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """A quick run of everything on Cora, in a folder of its own."""
    folder = tmp_path_factory.mktemp("done")
    finished = run("reproduce", "all", "--quick", "--datasets", "cora", "--methods", "gcn,lp", cwd=folder)
    assert finished.returncode == 0, finished.stderr
    return folder, finished.stdout


def table(text):
    return text[text.index("Table 3") :].split("Figure")[0]


def test_everything_is_printed_and_recorded(done):
    folder, text = done
    for words in ("Table 1", "Table 2", "Table 3", "5 (grid search)", " 82.0 ", "A first look (1 and 1 trials"):
        assert words in text
    assert "converges faster" not in text  # of one trial nothing is said
    first, recorded = text[text.index("Table 1") : text.index("Table 2")].split("Table 1, our recorded full run")
    assert ["GCN" in first, "GAT" in first, "GAT" in recorded] == [True, False, True]
    assert "83.1±0.6" in recorded
    models = [record.model for record in Results(folder / "results").read()]
    assert models.count("pan") == 7 + 27 + 1 + 1
    assert sorted(set(models)) == ["gcn", "lp", "pan"]
    assert len(models) == 38
    for ending in ("png", "svg"):
        assert (folder / "results" / f"figure2.{ending}").stat().st_size > 10_000


def test_the_same_command_again_repeats_nothing(done):
    folder, text = done
    before = {path: path.stat().st_mtime_ns for path in (folder / "results").glob("*.jsonl")}
    again = call("reproduce", "all", "--quick", "--datasets", "cora", "--methods", "gcn,lp", cwd=folder)
    assert table(again.stdout) == table(text)
    assert before == {path: path.stat().st_mtime_ns for path in (folder / "results").glob("*.jsonl")}


def test_two_processes_in_one_folder(done, tmp_path):
    _, text = done
    both = [
        subprocess.Popen(command(*QUICK), cwd=tmp_path, env=surroundings(), stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    outputs = [process.communicate()[0] for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert [table(output) for output in outputs] == [table(text)] * 2
    assert len(Results(tmp_path / "results").read()) == 35


def test_a_line_cut_short_is_said_and_survived(done, tmp_path):
    folder, text = done
    (tmp_path / "results").mkdir()
    for path in (folder / "results").glob("*.jsonl"):
        (tmp_path / "results" / path.name).write_text(path.read_text())
    damaged = next(iter(sorted((tmp_path / "results").glob("cora-method1-*"))))
    damaged.write_text(damaged.read_text()[:-30])
    again = call(*QUICK, cwd=tmp_path)
    assert again.returncode == 0
    assert "is cut short or damaged: skipped" in again.stderr
    assert table(again.stdout) == table(text)


def test_baselines_are_ranked(tmp_path):
    finished = call("reproduce", "table2", "--quick", "--datasets", "cora", "--methods", "gcn,mlp", cwd=tmp_path)
    assert finished.returncode == 0, finished.stderr
    assert "Ranked: results/ranked-cora.png, .svg" in finished.stdout
    said = " ".join(finished.stdout.split())
    assert "PAN's place by the paper's figures: Cora 5th of 25 (behind AGNN, GAT, GWNN and DGI)" in said
    assert "PAN's place by ours" not in said  # of one trial
    assert "overall" not in said
    for ending in ("png", "svg"):
        assert (tmp_path / "results" / f"ranked-cora.{ending}").stat().st_size > 10_000
    call("reproduce", "table2", "--quick", "--datasets", "cora,citeseer", "--methods", "pan", cwd=tmp_path)
    drawn = sorted(path.name for path in (tmp_path / "results").glob("ranked*"))
    assert drawn == ["ranked-cora.png", "ranked-cora.svg"]  # on Citeseer there is PAN alone
    finished = call("report", cwd=tmp_path)
    assert finished.returncode == 0, finished.stderr
    assert 'id="ranked-cora"' in (tmp_path / "report.html").read_text()


def test_few_random_splits_say_nothing_of_who_is_ahead(tmp_path):
    asked = ("reproduce", "table2", "--quick", "--datasets", "cora", "--methods", "lp")
    for splits, ahead in ((2, "-"), (3, "of 3")):
        done = call(*asked, "--random-splits", splits, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        (line,) = (line for line in done.stdout.splitlines() if line.split()[:1] == ["LP"])
        assert ahead in (line.split()[4] if ahead == "-" else line)


def test_grid(tmp_path):
    options = ("--values", "0,1", "--trials", 2, "--epochs", 3, "--plot", "heat.png", "--json", "points.json")
    finished = call("grid", "cora", *options, cwd=tmp_path)
    assert finished.returncode == 0, finished.stderr
    assert "the best of 7 points" in finished.stdout
    points = json.loads((tmp_path / "points.json").read_text())
    assert points[0]["val_accuracy"] == max(p["val_accuracy"] for p in points)
    assert (tmp_path / "heat.png").stat().st_size > 10_000
    for more, count in (
        (("--values", "0,1", "--tie", "1,2"), 3),
        (("--values", "1,2", "--tie", "0,1,2", "--per-layer"), 4),
        (("--temperatures", "0.5,2", "--alphas", "1,2"), 4),
    ):
        finished = call("grid", "cora", "--trials", 1, "--epochs", 2, "--plot", "heat.svg", *more, cwd=tmp_path)
        assert f"the best of {count} points" in finished.stdout, finished.stderr


def test_report(done, tmp_path):
    folder, _ = done
    finished = call("report", "--results", folder / "results", "--out", "new/page.html", cwd=tmp_path)
    assert finished.returncode == 0, finished.stderr
    assert "Method 5 (grid search)" in (tmp_path / "new/page.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("reproduce", "table9"), "'table9' is not one of table1, table2, table3, figure1, figure2, all"),
        (("reproduce", "table1", "--datasets", "cora,coda"), "--datasets names 'coda'"),
        (("reproduce", "table1", "--device", "warp"), "--device must be one of auto, cpu, cuda, got 'warp'"),
        (("reproduce", "table1", "--trials", "0"), "--trials must be at least 1"),
        (("reproduce", "table1", "--out", "file"), "the results folder file is a file"),
        (("reproduce", "table1", "--out", "/proc/results"), "cannot write /proc/results"),
        (("reproduce", "table1", "--out", "old"), "is of another schema ('panconv-run-0'"),
        (("report", "--results", "old"), "is of another schema"),
        (("report", "--results", "empty"), "holds no results"),
        (("report", "--results", "nowhere"), "is not there"),
        (("report", "--results", "file"), "is a file"),
        (("grid", "cora", "--values", ""), "the grid has no points"),
        (("grid", "cora", "--values", "0"), "the grid has no points"),
        (("grid", "cora", "--values", "a"), "--values must be numbers"),
        (("grid", "cora", "--tie", "1,9"), "tie names length 9"),
        (("grid", "cora", "--tie", "1.5,2"), "--tie must be whole numbers"),
        (("grid", "cora", "--L", "12"), "more than 100,000"),
        (("grid", "cora", "--temperatures", "1", "--tie", "1,2"), "which --tie and --per-layer do not go with"),
        (("train", "cora", "--results", "old"), "is of another schema"),
        (("grid", "coda"), "'coda' is neither"),
        (("grid", "cora", "--temperatures", "-1"), "temperature must be positive"),
        (("grid", "cora", "--plot", "x.doc"), "--plot must end in"),
    ],
)
def test_mistakes_are_one_line_and_exit_code_2(tmp_path, arguments, message):
    (tmp_path / "file").write_text("mine")
    (tmp_path / "empty").mkdir()
    (tmp_path / "old").mkdir()
    (tmp_path / "old/runs.jsonl").write_text('{"schema": "panconv-run-0"}\n')
    finished = call(*arguments, cwd=tmp_path)
    assert finished.returncode == 2, finished.stderr
    assert message in finished.stderr
    assert len(finished.stderr.splitlines()) == 1
    assert finished.stderr.startswith("panconv: ")
    assert sorted(os.listdir(tmp_path)) == ["empty", "file", "old"]
