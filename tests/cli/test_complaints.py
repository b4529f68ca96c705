"""Whatever is misspelt is said at once, with what was probably meant."""

import subprocess
import sys

import pytest

EDGES, NODES = "from,to\nann,bob\nbob,cyd\n", "id,age,topic\nann,3,x\nbob,4,y\ncyd,5,x\n"
WRONG = {
    "trian cora": "there is no command 'trian': did you mean 'train'?",
    "frobnicate": "there is no command 'frobnicate': --help lists those there are",
    "describe e.csv --lable topic": "there is no option '--lable': did you mean '--label'?",
    "--quite data": "there is no option '--quite': did you mean '--quiet'?",
    "data --hlep": "there is no option '--hlep': did you mean '--help'?",
    "train coar": "did you mean 'cora'?",
    "search coar": "did you mean 'cora'?",
    "describe egdes.csv": "edges 'egdes.csv' is not there: did you mean 'edges.csv'?",
    "describe edges.csv ndoes.csv": "nodes 'ndoes.csv' is not there: did you mean 'nodes.csv'?",
    "describe edges.csv nodes.csv --label tpoic": "label='tpoic' is no column of nodes.csv: did you mean 'topic'?",
    "train edges.csv nodes.csv --label tpoic": "label='tpoic' is no column of nodes.csv: did you mean 'topic'?",
    "communities edges.csv nodes.csv --columns label=tpoic": "did you mean 'topic'?",
    "links edges.csv --columns source=form,target=to": "source='form' is no column of edges.csv: did you mean 'from'?",
    "spectrum edges.csv --columns sorce=from": "did you mean source=…?",
    "similar edges.csv ann --columns weight=x": "weight='x' is no column of edges.csv: it has 'from', 'to'",
    "train cora --weights fre": "--weights must be one of free, fixed, boltzmann, power-law, got 'fre': did you mean",
    "links edges.csv --walk genric --top 3": "--walk must be one of generic, maximal-entropy, got 'genric': did you",
    "search cora --space wram": "got 'wram': did you mean 'warm'?",
    "search cora --model gnc": "--model must be pan or a baseline: 'gnc' is no method of the zoo",
    "zoo chebent": "did you mean 'chebnet'?",
    "reproduce tabel1": "did you mean 'table1'?",
    "data export coar --csv --out x": "did you mean 'cora'?",
}


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """What each of these command lines was answered with, and whether torch was imported; all of one process."""
    place = tmp_path_factory.mktemp("misspelt")
    (place / "edges.csv").write_text(EDGES)
    (place / "nodes.csv").write_text(NODES)
    code = """if True:
        import sys
        from panconv import cli
        for line in sys.argv[1:]:
            try:
                cli.main(line.split())
            except SystemExit as done:
                print(done.code, *sorted({"torch", "sklearn", "plotly", "matplotlib", "pandas"} & set(sys.modules)))
            sys.stdout.flush()"""
    arguments = [sys.executable, "-c", code, *WRONG, "--version", "--help"]
    return subprocess.run(arguments, capture_output=True, text=True, cwd=place, check=True)


def test_what_is_misspelt_is_said_in_one_line(said):
    lines = said.stderr.splitlines()
    assert len(lines) == len(WRONG), said.stderr
    for (typed, words), line in zip(WRONG.items(), lines, strict=True):
        assert line.startswith("panconv: "), typed
        assert words in line, typed


def test_torch_and_other_heavy_libraries_are_not_imported_for_it(said):
    codes = [line for line in said.stdout.splitlines() if line.split() and line.split()[0] in ("0", "2")]
    assert codes == ["2"] * len(WRONG) + ["0", "0"]
