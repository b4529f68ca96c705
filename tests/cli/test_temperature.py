import json
import math

import pytest
from in_process import call

from panconv.paper.studies.temperature import STARTS


def test_temperature(tmp_path):
    arguments = ("temperature", "cora", "--L", "1,2", "--temperatures", "0,0.5,inf", "--trials", 2, "--epochs", 8)
    outputs = ("--json", "t.json", "--plot", "t.png")
    done = call(*arguments, *outputs, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert not any(len(line) > 80 for line in done.stdout.splitlines())
    found = json.loads((tmp_path / "t.json").read_text())
    assert [(p["L"], p["temperature"]) for p in found["points"]] == [(L, T) for L in (1, 2) for T in (0, 0.5, "inf")]
    by_place = {(p["L"], p["temperature"]): p["test_accuracy"] for p in found["points"]}
    assert by_place[1, 0] == by_place[2, 0]  # an MLP, whatever L
    assert by_place[1, "inf"] > by_place[1, 0]
    for point in found["points"]:
        assert f"{100 * point['test_accuracy']:.1f}" in done.stdout
    assert [(t["L"], t["start"]) for t in found["trained"]] == [(L, start) for L in (1, 2) for start in STARTS]
    for landing in found["trained"]:
        assert len(landing["temperatures"]) == 2  # one per layer
        assert all(0 < abs(math.log(T / landing["start"])) < 0.5 for T in landing["temperatures"])  # it moved
    assert (tmp_path / "t.png").stat().st_size > 10_000
    kept = {path.name: path.read_bytes() for path in (tmp_path / "results").iterdir()}
    assert sum(content.count(b"\n") for content in kept.values()) == 2 * (2 * 3 + 2 * len(STARTS))
    again = call(*arguments, cwd=tmp_path)
    trained = "T trained by gradient"
    assert again.stdout.split(trained)[1].strip() == done.stdout.split(trained)[1].split("plot:")[0].strip()
    assert again.stdout.split(trained)[0] == done.stdout.split(trained)[0]
    found_again = {path.name: path.read_bytes() for path in (tmp_path / "results").iterdir()}
    assert found_again == kept  # not trained again
    assert sum(b'"trained": true' in content for content in kept.values()) == 4  # a file per length and start


def test_thermodynamics(tmp_path):
    done = call("thermodynamics", "cora", "--temperature", 0.5, "--json", "t.json", "--plot", "t.svg", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert not any(len(line) > 80 for line in done.stdout.splitlines())
    found = json.loads((tmp_path / "t.json").read_text())
    assert len(found["path_entropy"]) == 2708
    for log_Z, F in zip(found["log_partition"], found["free_energy"], strict=True):
        assert pytest.approx(-0.5 * log_Z, rel=1e-5) == F
    assert f"{max(found['path_entropy']):.3f}" in done.stdout
    assert "the sum over all lengths diverges: with alpha = 1 and T = 0.5" in found["cutoff"]["refused"]
    assert "1/ln λ₁ = 0.375, as λ₁ = 14.39" in " ".join(done.stdout.split())
    done = call("thermodynamics", "cora", "--temperature", 0.3, "--json", "t.json", cwd=tmp_path)
    tail = json.loads((tmp_path / "t.json").read_text())["cutoff"]
    assert (tail["L"], tail["sufficient_L"]) == (5, 15)
    assert f"beyond L = 5: at most {tail['bound']:.2g} of Z at the worst node (λ₁ = 14.39" in done.stdout
    assert "at most 0.001: from L = 15 on" in done.stdout
    assert "path entropy" in (tmp_path / "t.svg").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("temperature", "cora", "--temperatures=-1"), "--temperatures must be 0 (the MLP), positive, or inf"),
        (("temperature", "cora", "--temperatures", "nan"), "--temperatures must be 0 (the MLP), positive, or inf"),
        (("temperature", "cora", "--L", "1.5"), "--L must be whole numbers with commas between them"),
        (("temperature", "cora", "--L=-1"), "--L must be at least 0, got -1"),
        (("temperature", "cora", "--alpha", "0.5"), "alpha must be a number of at least 1"),
        (("temperature", "cora", "--trials", "0"), "--trials must be at least 1, got 0"),
        (("temperature", "cora", "--plot", "t.xyz"), "--plot must end in"),
        (("thermodynamics", "cora", "--temperature", "0"), "--temperature must be positive and finite, got 0"),
        (("thermodynamics", "cora", "--paths", "longest"), "paths must be one of walks, shortest, self_avoiding"),
        (("thermodynamics", "cora", "--json", "file/below"), "cannot write file/below"),
        (("thermodynamics", "cora", "--L", "40", "--paths", "self_avoiding"), "would take about"),
        (("reproduce", "figure1", "--L=-1"), "L must be at least 0"),
    ],
)
def test_mistakes_are_one_line_and_exit_code_2(tmp_path, arguments, message):
    (tmp_path / "file").write_text("mine")
    done = call(*arguments, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert message in done.stderr


def test_figure1(tmp_path):
    done = call("reproduce", "figure1", "--out", "new", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "new/figure1.png, .svg (L = 2)" in done.stdout
    assert (tmp_path / "new/figure1.png").stat().st_size > 10_000
