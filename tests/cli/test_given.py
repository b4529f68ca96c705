"""What was typed for a graph: a built-in name, a folder, or tables; what is none of these, by what was likely meant."""

from pathlib import Path

import pytest

from panconv.cli import given


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with tables, and one of these in a folder that has the name of a graph."""
    monkeypatch.chdir(tmp_path)
    Path("cora").mkdir()
    for name in ("edges.csv", "nodes.csv", "cora/edges.csv", "book.xlsx", "bare"):
        Path(name).write_text("source,target\na,b\n")


def test_a_built_in_graph_wins_over_a_folder_of_its_name(here):
    for name in ("cora", "Cora"):
        given.check(name)
        assert given.opened(name).graph is None
    for name in ("./cora", "cora/"):
        with pytest.raises(ValueError, match=r"edges 'cora' is a folder: name a file in it, such as 'cora/edges.csv'"):
            given.check(name)


@pytest.mark.parametrize("nodes", [None, Path("nodes.csv")])
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("edges.cvs", r"edges 'edges.cvs' is not there: did you mean 'edges.csv'\?"),
        ("book.xlsx", r"edges 'book.xlsx' is of no kind that is read \(.csv, .*\): save it as CSV"),
        ("bare", r"edges 'bare' is of no kind that is read \(.csv, .*\): write it as one of these"),
        ("coar", r"did you mean 'cora'\?"),
    ],
)
def test_edges_that_are_no_table(here, name, nodes, message):
    with pytest.raises(ValueError, match=message):
        given.check(name, nodes)
    if nodes is not None:
        with pytest.raises(ValueError, match=message):
            given.own_nodes([name, str(nodes)], None, None)


def test_what_may_be_a_graph_of_raw_files_is_left_to_those_who_read_it(here):
    for name in ("raw/my.graph", "benchmark.npz", "elsewhere"):
        given.check(name)
    with pytest.raises(ValueError, match=r"edges 'my.graph' is not there: look into"):
        given.check("my.graph", Path("nodes.csv"))
    with pytest.raises(ValueError, match=r"a table of nodes, 'nodes.csv', goes with a table of edges, and 'cora' is"):
        given.check("cora", Path("nodes.csv"))
