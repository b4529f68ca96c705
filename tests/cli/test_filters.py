import json

import pytest
from fuzz_commands import planetoid_files
from in_process import call


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("filters")
    planetoid_files(folder / "tiny")
    return folder


def test_tables_plot_and_json(place):
    outputs = ("--plot", "f.svg", "--json", "f.json")
    done = call("filters", "tiny", "--L", 3, "--temperatures", "0,1,inf", *outputs, cwd=place)
    assert done.returncode == 0, done.stderr
    assert not any(len(line) > 80 for line in done.stdout.splitlines())
    assert "…" not in done.stdout
    record = json.loads((place / "f.json").read_text())
    assert [each["temperature"] for each in record["filters"]] == [0, 1, "inf"]
    assert [each["kind"] for each in record["filters"]] == ["all-pass", "low-pass", "low-pass"]
    assert sum(record["filters"][0]["response"]["states"]) == 510
    gains = record["filters"][0]["response"]["gain"]
    assert gains == pytest.approx([1] * len(gains))
    rows = [line.split() for line in done.stdout.splitlines()]
    hot = [row for row in rows if row and row[0] == "inf"]
    assert hot[0][-1] == "low"
    assert hot[1][2] == f"{record['filters'][2]['shares'][3]:.3f}"
    assert "path lengths" in (place / "f.svg").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--method", 12), "method must be one of 1, 2, 3"),
        (("--temperatures=-1",), "--temperatures must be 0 (M = I), positive, or inf"),
        (("--temperatures", "warm"), "--temperatures must be numbers with commas"),
        (("--alpha", 0.5), "alpha must be a number of at least 1"),
        (("--plot", "f.doc"), "--plot must end in"),
    ],
)
def test_mistakes_are_one_line_and_exit_code_2(place, arguments, message):
    done = call("filters", "tiny", *arguments, cwd=place)
    assert done.returncode == 2, done.stderr
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
