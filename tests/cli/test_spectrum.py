import json

import pytest
from in_process import call


def test_table_plot_and_json(tmp_path):
    finished = call("spectrum", "cora", "--L", 1, "--k", "1,2", "--plot", "s.png", "--json", "s.json", cwd=tmp_path)
    assert finished.returncode == 0, finished.stderr
    for words in ("2,708 nodes, 78 components, k(n) = 1 2", "normalised Laplacian", "how often", "78"):
        assert words in finished.stdout
    assert (tmp_path / "s.png").stat().st_size > 10_000
    record = json.loads((tmp_path / "s.json").read_text())
    M, laplacian = record["spectra"]
    assert len(M["values"]) == len(laplacian["values"]) == 2708
    assert M["copies"] == laplacian["copies"] == 78
    assert M["largest"] == pytest.approx(1)
    assert record["k"] == [1, 2]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("cora", "--method", 3), "M is similar to no symmetric matrix: use a method other than 3 and 4"),
        (("cora", "--k", "1,1"), "weights must have L+1 = 3 entries"),
        (("cora", "--starts", 0), "--starts must be at least 1, got 0"),
        (("cora", "--plot", "s.doc"), "--plot must end in"),
    ],
)
def test_mistakes_are_one_line_and_exit_code_2(tmp_path, arguments, message):
    finished = call("spectrum", *arguments, cwd=tmp_path)
    assert finished.returncode == 2, finished.stderr
    assert message in finished.stderr
    assert len(finished.stderr.splitlines()) == 1
