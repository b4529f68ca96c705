"""Two tables in, a graph out: ids, names of columns, and one line for what is not as it should be."""

import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest

from panconv import read
from panconv.data import tables

EDGES = "source,target\na,b\nb,c\nc,d\n"
NODES = "id,age,label\na,1,x\nb,2,y\nc,3,x\nd,4,y\n"


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Writes edges.csv and nodes.csv and reads them; what is not given is as it should be."""
    monkeypatch.chdir(tmp_path)

    def made(edges=EDGES, nodes=NODES, **options):
        for name, content in (("edges.csv", edges), ("nodes.csv", nodes)):
            content = content.encode() if isinstance(content, str) else content
            (tmp_path / name).write_bytes(content or b"")
        return read("edges.csv", None if nodes is None else "nodes.csv", **options)

    return made


def test_two_tables(files):
    graph = files()
    assert graph.ids.tolist() == ["a", "b", "c", "d"]
    assert graph.num_edges == 3
    assert sorted(map(tuple, graph.edge_index.T.tolist())) == [(0, 1), (1, 0), (1, 2), (2, 1), (2, 3), (3, 2)]
    assert (graph.classes, graph.y.tolist(), graph.label) == (("x", "y"), [0, 1, 0, 1], "label")
    assert graph.columns["age"].values.tolist() == [1, 2, 3, 4]
    assert "nodes.csv: the label is in 'label'" in graph.notes
    assert not graph.mended


def test_columns_are_named(files):
    edges = "when,a b,to whom,amount\n1,a,b,2.5\n2,b,c,1\n"
    nodes = "who,topic\na,x\nb,y\nc,\n"
    graph = files(edges, nodes, source="a b", target="to whom", weight="amount", id="who", label="topic", directed=True)
    assert graph.directed
    assert graph.edge_index.tolist() == [[0, 1], [1, 2]]
    assert graph.edge_weight.tolist() == [2.5, 1.0]
    assert graph.labels.tolist() == ["x", "y", None]
    assert graph.guessed == ("edges.csv: of its columns 'when' is not used",)


def test_ids_are_ids_and_no_indices(files):
    graph = files("source,target\n007,9000000000\n9000000000,7\n", None)
    assert graph.ids.tolist() == ["007", "9000000000", "7"]
    graph = files("source,target\n12,9000000000\n9000000000,7\n", "id,n\n7,1\n12,2\n9000000000,3\n")
    assert graph.ids.tolist() == [7, 12, 9000000000]
    assert graph.index(9000000000) == graph.index("9000000000") == 2
    assert graph.num_nodes == 3


@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet", "jsonl", "frame", "indexed frame", "semicolons"])
def test_every_kind_of_table_is_the_same_graph(tmp_path, kind):
    edges = pd.DataFrame({"from": [10**12, 5, 7], "to": [5, 7, 10**12], "weight": [0.5, 2.0, 1.0]})
    nodes = pd.DataFrame({"id": [5, 7, 10**12], "x": [1.5, np.nan, -2.0], "label": ["a", None, "b"]})
    if kind.endswith("frame"):
        graph = read(edges, nodes.set_index("id") if kind.startswith("i") else nodes)
    else:
        paths = []
        for name, table in (("edges", edges), ("nodes", nodes)):
            paths.append(tmp_path / f"{name}.{'csv' if kind == 'semicolons' else kind}")
            if kind == "parquet":
                table.to_parquet(paths[-1])
            elif kind == "jsonl":
                table.to_json(paths[-1], orient="records", lines=True)
            elif kind == "semicolons":  # with decimal commas, as they go together
                table.to_csv(paths[-1], index=False, sep=";", decimal=",")
            else:
                table.to_csv(paths[-1], index=False, sep="\t" if kind == "tsv" else ",")
        graph = read(*paths)
    assert graph.ids.tolist() == [5, 7, 10**12]
    assert graph.labels.tolist() == ["a", None, "b"]
    np.testing.assert_equal(graph.columns["x"].values, [1.5, np.nan, -2.0])
    assert dict(zip(map(tuple, graph.edge_index.T.tolist()), graph.edge_weight.tolist(), strict=True))[2, 0] == 0.5


# ---------------------------------------------------------------------- what is mended, or refused where strict

MENDED = {
    "a repeated row": (
        {"nodes": f"{NODES}b,2,y\n"},
        "nodes.csv, line 6, column 'id': the id 'b' stands there a second",
    ),
    "an unknown end": ({"edges": f"{EDGES}d,ghost\n"}, "edges.csv, line 5, column 'target': 'ghost' is no node"),
    "a self-loop": ({"edges": f"{EDGES}d,d\n"}, "edges.csv, line 5: 1 edge from a node to itself"),
    "a repeated edge": ({"edges": f"{EDGES}a,b\n"}, "edges.csv, line 5: 1 edge that stood there before"),
    "unequal directions": (
        {"edges": "source,target,weight\na,b,1\nb,a,2\nc,d,1\n"},
        "1 edge in both directions with unequal weights",
    ),
    "no label": ({"nodes": "id,label\na,\nb,\nc,\nd,\n"}, "nodes.csv, column 'label': there is no label"),
    "one class": ({"nodes": "id,label\na,x\nb,x\nc,\nd,\n"}, "nodes.csv, column 'label': every label is 'x'"),
    "a class of one": (
        {"nodes": "id,label\na,x\nb,y\nc,x\nd,z\ne,z\n"},
        "nodes.csv, column 'label': one node alone has the label 'y'",
    ),
    "text among numbers": (
        {"nodes": "id,n\na,1\nb,2\nc,3\nd,4\ne,5\nf,6\ng,7\nh,8\ni,9\nj,10\nk,many\n"},
        "nodes.csv, line 12, column 'n': 'many' is no number",
    ),
    "text among decimal commas": (
        {"nodes": "id;n\n" + "".join(f"n{i};{i},5\n" for i in range(20)) + "a;n.a.\nb;2,5\nc;1\nd;1\n"},
        "nodes.csv, line 22, column 'n': 'n.a.' is no number",
    ),
    "a day that is none": (
        {"nodes": "id,when\n" + "".join(f"{each},2024-02-03\n" for each in "abcdefghi") + "j,2024-02-30\n"},
        "nodes.csv, line 11, column 'when': '2024-02-30' is no date",
    ),
    "infinity": (
        {"nodes": "id,n\na,1\nb,inf\nc,-inf\nd,2\n"},
        "nodes.csv, line 3, column 'n': inf is no finite number: 2 cells taken for missing",
    ),
    "not UTF-8": (
        {"nodes": "id,city\na,Köln\nb,Köln\nc,x\nd,x\n".encode("cp1252")},
        "nodes.csv, line 2: not UTF-8: the file is read as Windows-1252",
    ),
}


@pytest.mark.parametrize("case", MENDED)
def test_what_can_be_mended_is_said_by_line_and_refused_where_strict(files, case):
    given, words = MENDED[case]
    with pytest.warns(UserWarning, match=r".") as found:
        graph = files(**given)
    assert words in str(found[0].message)
    assert found[0].filename == __file__
    assert words in "\n".join(graph.mended)
    strict = words.split(": 2 cells")[0].split(": the file")[0]
    with pytest.raises(ValueError, match=r".") as refused:
        files(**given, strict=True)
    assert strict in str(refused.value)
    assert "read without strict" in str(refused.value)


def test_how_it_is_mended(files):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        loop = files(f"{EDGES}d,d\n")
        assert (loop.num_edges, loop.edge_index.size(1)) == (3, 6)
        ghost = files(f"{EDGES}d,ghost\n")
        assert (ghost.ids.tolist()[-1], ghost.labels[-1], ghost.columns["age"].missing) == ("ghost", None, 1)
        weighted = files("source,target,weight\na,b,1\na,b,2\nc,d,1\n")
        assert weighted.edge_weight.tolist() == [3, 3, 1, 1]
        assert files(nodes="id,label\na,\nb,\nc,\nd,\n").labels is None
        assert files(**MENDED["not UTF-8"][0]).columns["city"].values[0] == "Köln"
        assert files(nodes=f"{NODES}b,2,y\nd,4,y\ne,0,x\n").ids.tolist() == [*"abcde"]


def test_rows_after_one_left_out_know_their_line(files):
    nodes = "id,n\na,1\na,1\nb,2\nc,x\nd,4\n" + "".join(f"n{i},{i}\n" for i in range(20))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        graph = files(nodes=nodes)
    assert "nodes.csv, line 5, column 'n': 'x' is no number" in graph.mended[1]


def test_one_direction_and_both_are_one_graph(files):
    both = "source,target,weight\na,b,2\nb,a,2\nb,c,1\nc,b,1\n"
    once = "source,target,weight\na,b,2\nb,c,1\n"
    one, other = files(both, None), files(once, None)
    assert one.edge_index.tolist() == other.edge_index.tolist()
    assert one.edge_weight.tolist() == other.edge_weight.tolist() == [2, 2, 1, 1]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"edges": ""}, "edges.csv is empty: its first line must name the columns"),
        ({"edges": "\n\n"}, "edges.csv is empty"),
        ({"edges": "source,target\n", "nodes": None}, "edges.csv has no edges, and there are no nodes"),
        ({"edges": "a\nb\n"}, "edges.csv has the columns ['a']: an edge needs a source and a target"),
        ({"edges": "1,2\n2,3\n"}, "edges.csv, line 1: 1, 2 looks like data; put the names of the columns there"),
        (
            {"edges": "# a graph\n0\t1\n"},
            "['# a graph']: take lines of comments out, and name the columns in",
        ),
        ({"edges": "1 2\n2 3\n"}, "edges.csv, line 1: 1, 2 looks like data; put the names of the columns there"),
        ({"edges": "source,target\na,b\nb\n"}, "edges.csv, line 3: 1 cells where the header has 2"),
        ({"edges": "source,target\na,b\n,c\n"}, "edges.csv, line 3, column 'source': an id is missing"),
        ({"edges": "source,target,weight\na,b,1\nb,c,x\n"}, "line 3, column 'weight': the weight 'x' is no finite"),
        ({"edges": "source,target,weight\na,b,1\nb,c,\n"}, "line 3, column 'weight': the weight '' is no finite"),
        ({"edges": "source,target,weight\na,b,inf\n"}, "line 2, column 'weight': the weight 'inf' is no finite"),
        ({"edges": 'source,target\na,"b\nb,c\n'}, 'edges.csv, line 2: a quote " is opened here and never closed'),
        ({"edges": "source,source\na,b\n"}, "edges.csv, line 1: two columns are called 'source'"),
        ({"nodes": f"{NODES}b,3,y\n"}, "nodes.csv, line 6, column 'age': the id 'b' stood in line 3, with another"),
        ({"nodes": "id\nq\nr\n"}, "and so is no other end; its ids are such as 'q', 'r': name their column with id="),
        ({"nodes": b"id,x\na,\0\n"}, "nodes.csv, line 2: a zero byte"),
        ({"label": "lable"}, "label='lable' is no column of nodes.csv: did you mean 'label'?"),
        ({"label": "LABEL"}, "did you mean 'label'?"),
        ({"label": "q"}, "label='q' is no column of nodes.csv: it has 'id', 'age', 'label'"),
        ({"source": "source"}, "source is given and target is not: name both columns of edges.csv"),
        ({"nodes": None, "id": "id"}, "id='id' is a column of nodes, and nodes is missing"),
    ],
)
def test_what_cannot_be_mended_is_one_line(files, given, message):
    with pytest.raises(ValueError, match=r".") as refused:
        files(**given)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def test_misspelt_files(files):
    files()
    with pytest.raises(ValueError, match=r"edges 'egdes.csv' is not there: did you mean 'edges.csv'\?"):
        read("egdes.csv")
    with pytest.raises(ValueError, match=r"nodes 'node.csv' is not there: did you mean 'nodes.csv'\?"):
        read("edges.csv", "node.csv")
    with pytest.raises(ValueError, match="edges 'cora' is not there"):
        read("cora")
    with pytest.raises(TypeError, match="label must be the name of a column, got 3"):
        read("edges.csv", "nodes.csv", label=3)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("there", "edges 'there' is a folder: name a file in it, such as 'there/edges.csv'"),
        ("bare", "edges 'bare' is a folder: name a file (.csv, .tsv, .txt, .parquet"),
        ("edges.xlsx", "of no kind that is read (.csv, .tsv, .txt, .parquet, .jsonl, .ndjson): save it as CSV"),
        ("edges.csv.gz", "unpack it first"),
        ("edges.json", "write a line per row, and call it .jsonl"),
    ],
)
def test_what_is_no_table_comes_with_a_remedy(tmp_path, monkeypatch, name, message):
    monkeypatch.chdir(tmp_path)
    for folder in ("there", "bare"):
        (tmp_path / folder).mkdir()
    for file in ("there/edges.csv", "edges.xlsx", "edges.csv.gz", "edges.json"):
        (tmp_path / file).write_text(EDGES)
    with pytest.raises(ValueError, match=r".") as refused:
        read(name)
    assert message in str(refused.value)


def test_columns_of_edges_that_are_not_used_are_named(files):
    guessed = files("source,target,when,amount\na,b,1,2\nb,c,2,3\nc,d,1,1\n").guessed
    assert "edges.csv: of its columns 'when', 'amount' are not used; a weight is named with weight=…" in guessed
    guessed = files("source,target,when,amount\na,b,1,2\nb,c,2,3\nc,d,1,1\n", weight="amount").guessed
    assert "edges.csv: of its columns 'when' is not used" in guessed


@pytest.mark.filterwarnings("ignore:nodes.csv, line 4")
def test_decimal_commas_are_points_beside_semicolons(files):
    edges = "source;target;weight\na;b;1,5\nb;c;2\nc;d;,25\n"
    more = "".join(f"n{i};{i},5;1\n" for i in range(20))
    graph = files(edges, f"id;x;y\na;1,5;1.5\nb;-2,5e1;2\nc;x,y;3\nd;;4\n{more}")
    assert sorted({*graph.edge_weight.tolist()}) == [0.25, 1.5, 2.0]
    assert graph.columns["x"].values[:2].tolist() == [1.5, -25.0]
    assert graph.columns["y"].values[:2].tolist() == [1.5, 2.0]
    assert graph.mended[-1].startswith("nodes.csv, line 4, column 'x': 'x,y' is no number")


def test_a_blank_divides_cells_where_nothing_else_does(files):
    graph = files("from to weight\na b 2\nb c 1\n", "full name\na\nb\nc\n")
    assert sorted(graph.edge_weight.tolist()) == [1, 1, 2, 2]
    assert graph.ids.tolist() == ["a", "b", "c"]


def test_parquet_that_would_fill_the_memory_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "_MOST_BYTES", 2**20)
    path = tmp_path / "edges.parquet"
    pd.DataFrame({"source": np.zeros(2**20), "target": np.zeros(2**20)}).to_parquet(path)
    assert path.stat().st_size < 2**14
    with pytest.raises(ValueError, match=r"as parquet: it would unpack to 16,777,216 bytes, far more"):
        read(path)


def test_minus_one_is_unknown_among_numbers_from_0(files):
    with_some = "id,label\na,0\nb,1\nc,-1\nd,1\ne,0\n"
    with pytest.warns(UserWarning, match="nodes.csv, line 4, column 'label': '-1' may be a class or say that there is"):
        assert files(nodes=with_some).labels.tolist() == ["0", "1", None, "1", "0"]
    with pytest.raises(ValueError, match="'-1' may be a class or say that there is none; mend it, or read without str"):
        files(nodes=with_some, strict=True)
    assert files(nodes="id,label\na,-1\nb,1\nc,-1\nd,1\n").classes == ("-1", "1")
    assert files(nodes="id,label\na,10\nb,9\nc,10\nd,9\n").classes == ("9", "10")


NUMBERS = "id;label\na;0,37\nb;-1\nc;?\nd;2\ne;1e1\nf;\n"


@pytest.mark.parametrize("regression", [False, True])
def test_numbers_to_predict_are_read_as_columns_of_features_are(files, regression):
    """Whether this was said as they were read, or a regression asks for them afterwards."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore" if not regression else "error")
        graph = files(nodes=NUMBERS, regression=regression, strict=regression)
        np.testing.assert_equal(graph.targets, [0.37, -1, np.nan, 2, 10, np.nan])
    text = "nodes.csv, line 3, column 'label': 'abc' is no number"
    with pytest.raises(ValueError, match=f"{text}, and numbers are to be predicted: name a column of numbers, or pre"):
        _ = files(nodes="id,label\na,1\nb,abc\n", edges="source,target\na,b\n", regression=regression).targets
    rows = [f"n{row},{row}" for row in range(20)]
    edges, last = "source,target\nn0,n1\n", "nodes.csv, line 22, column 'label': "
    for cell, what in (("abc", "'abc' is no number, unlike most cells"), ("inf", "inf is no finite number")):
        nodes = "\n".join(["id,label", *rows, f"m,{cell}"])
        with pytest.warns(UserWarning, match=f"{last}{what}.*: 1 cell taken for missing"):
            np.testing.assert_equal(files(edges, nodes, regression=regression).targets, [*range(20), np.nan])
        with pytest.raises(ValueError, match=f"{last}{what}"):
            _ = files(edges, nodes, regression=regression, strict=True).targets


def test_numbers_are_asked_for_when_the_file_is_gone(files, tmp_path):
    graph = files(nodes="id,label\na,x\nb,y\nc,x\nd,y\n")
    (tmp_path / "nodes.csv").unlink()
    with pytest.raises(ValueError, match=r"nodes.csv, row 1, column 'label': 'x' is no number"):
        _ = graph.targets


def test_numbers_to_predict_are_no_classes(files):
    graph = files(nodes="id,label\na,1\nb,2\nc,2\nd,NA\n", regression=True, strict=True)  # 1 is no class of one node
    assert not graph.mended
    assert (graph.labels.tolist(), graph.classes, graph.counts()) == (["1", "2", "2", None], (), {})
    assert repr(graph) == "Graph(4 nodes, 3 edges, 3 numbers to predict in 'label')"
    with pytest.raises(ValueError, match="'label' are numbers to predict: read classes without regression=True"):
        _ = graph.y
    with pytest.warns(UserWarning, match="nodes.csv, column 'label': there is no number: nothing can be learned"):
        graph = files(nodes="id,label\na,\nb,-\nc,\nd,\n", regression=True)
    assert (graph.labels, graph.label) == (None, "label")


def test_the_package_is_there_without_arrow():
    code = """if True:
        import sys
        import panconv
        print({"pyarrow", "pandas", "torch"} & set(sys.modules))
        sys.modules["pyarrow"] = sys.modules["pandas"] = sys.modules["networkx"] = None
        print(panconv.read([(1, 2), (2, 3)]), panconv.load("cora").num_nodes)
        try:
            panconv.read("edges.csv")
        except ValueError as error:
            print(error)"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        *("set()", "Graph(3 nodes, 2 edges) 2708", "tables are read by Arrow, which is not here: pip install pyarrow")
    ]
