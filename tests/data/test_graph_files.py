"""Many graphs from files: both formats, by name, mended, damaged, and beside PyG's reader."""

import os
import time

import pytest
import torch
from fuzz_graph_files import main as fuzz
from torch_geometric.io import read_tu_data

from panconv.data import graph_features, read_graphs

OFFICIAL = os.environ.get("PANCONV_TU")
# What the papers say of the sets: graphs, classes, mean nodes and edges, tags.
SIZES = {
    "MUTAG": (188, 2, 17.93, 19.79, 7),
    "PROTEINS": (1113, 2, 39.06, 72.82, 3),
    "NCI1": (4110, 2, 29.87, 32.30, 37),
}
# A pair of nodes, a graph without nodes, a path of three, and a node by itself.
TEXT = "4\n2 1\n5 1 1\n0 1 0\n\n0 -1\n3 1\n0 1 1\n9 2 0 2\n5 1 1\n1 -1\n0 0\n"
FOLDER = {
    "A": "1, 2\n2, 1\n3, 4\n4, 3\n4, 5\n5, 4\n",
    "graph_indicator": "1\n1\n3\n3\n3\n4\n",
    "graph_labels": "1\n-1\n1\n-1\n",
    "node_labels": "5\n0\n0\n9\n5\n0\n",
}


def folder(path, name="SET", **changes):
    for part, text in {**FOLDER, **changes}.items():
        if text is not None:
            (path / f"{name}_{part}.txt").write_text(text)
    return path


def text(path, content=TEXT):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_both_formats_hold_the_same(tmp_path):
    one, other = read_graphs(text(tmp_path / "SET.txt")), read_graphs(folder(tmp_path))
    for found in (one, other):
        assert repr(found) == "GraphSet(SET: 4 graphs of 2 classes, 6 nodes, 3 edges, 3 features)"
        assert found.classes == ("-1", "1")
        assert found.y.tolist() == [1, 0, 1, 0]
        assert found.ptr.tolist() == [0, 2, 2, 5, 6]
        assert found.edge_index.T.tolist() == [[0, 1], [1, 0], [2, 3], [3, 2], [3, 4], [4, 3]]
        assert found.x.argmax(1).tolist() == [1, 0, 0, 2, 1, 0]  # the tags 0, 5, 9
        assert found.features == "3 node tags, one-hot"
        assert found.notes == ()
    assert torch.equal(one.x, other.x)


def test_attributes_beside_tags_as_pyg_reads_them(tmp_path):
    attributes = "0.5, 1e-3\n1, 2\n-1, +.25\n0,0\n3,1\n1,1\n"
    folder(tmp_path, node_attributes=attributes, graph_indicator="1\n1\n2\n2\n2\n3\n", graph_labels="1\n2\n1\n")
    found = read_graphs(str(tmp_path))
    data, slices, _ = read_tu_data(str(tmp_path), "SET")
    assert found.features == "2 node attributes and 3 node tags, one-hot"
    kept = [0, 1, *(2 + tag for tag in (0, 5, 9))]  # PyG has a column for every number in between
    assert torch.equal(found.x, data.x[:, kept])
    assert torch.equal(found.y, data.y)
    assert torch.equal(found.ptr, slices["x"])
    local = found.edge_index - found.ptr[torch.bucketize(found.edge_index, found.ptr[1:], right=True)]
    assert torch.equal(local, data.edge_index)


def test_degrees_where_there_is_neither(tmp_path):
    for found in (
        read_graphs(folder(tmp_path, node_labels=None)),
        read_graphs(text(tmp_path / "SET.txt", TEXT.replace("5 1", "0 1").replace("9 2", "0 2"))),
    ):
        assert found.features == "degrees, one-hot, 0 … 2"
        assert found.x.argmax(1).tolist() == [1, 1, 1, 2, 1, 0]


def test_several_columns_of_tags_and_too_many_of_them(tmp_path, monkeypatch):
    tags = "".join(f"{i},{i % 2}\n" for i in range(6))
    assert read_graphs(folder(tmp_path, node_labels=tags)).features == "6 node tags, one-hot and 2 node tags, one-hot"
    monkeypatch.setattr(graph_features, "_MOST_COLUMNS", 7)
    monkeypatch.setattr(graph_features, "_MOST_DENSE", 47)
    with pytest.raises(ValueError, match=r"6 nodes have 8 different tags, .* join those that are rare"):
        read_graphs(tmp_path)


def test_numbers_to_learn(tmp_path):
    numbers = "0.5\n-1\n2\n1e3\n"
    found = read_graphs(folder(tmp_path, graph_labels=None, graph_attributes=numbers))
    assert found.y.tolist() == [0.5, -1, 2, 1000]
    assert found.num_classes == 0
    folder(tmp_path, graph_attributes="".join(f"{i}, {-i}\n" for i in range(4)))
    assert read_graphs(tmp_path).classes == ("-1", "1")  # the labels
    assert read_graphs(tmp_path, target=1).y.tolist() == [0, -1, -2, -3]
    (tmp_path / "SET_graph_labels.txt").unlink()
    with pytest.raises(ValueError, match="has 2 numbers per graph: say which to learn, target=0"):
        read_graphs(tmp_path)
    for target, words in ((2, "0 … 1, got 2"), (-1, "target must be an integer of at least 0")):
        with pytest.raises(ValueError, match=words):
            read_graphs(tmp_path, target=target)


def test_what_is_mended_is_said_or_refused(tmp_path):
    edges = "2, 1\n1, 2\n1, 2\n6, 6\n4, 3\n5, 4\n4, 5\n"
    mixed = {
        "A": "1,6\n3,4\n4,3\n4,5\n5,4\n6,1\n",
        "graph_indicator": "1\n4\n3\n3\n3\n1\n",
        "node_labels": "5\n9\n0\n9\n5\n0\n",
    }
    found = read_graphs(folder(tmp_path, A=edges, edge_labels="1\n"))
    path, loop = tmp_path / "SET_A.txt", "left out, since every node hears itself by its path of length 0"
    assert found.edge_index.T.tolist() == [[0, 1], [1, 0], [2, 3], [3, 2], [3, 4], [4, 3]]
    assert found.notes == (
        "SET_edge_labels.txt is left out",
        f"{path}, line 4: 1 edge from a node to itself: {loop}",
        f"{path}, line 3: 1 edge that stood there before: counted once",
        f"{path}, line 5: 1 edge in one direction alone: read as both, since the graphs are undirected",
    )
    with pytest.raises(ValueError, match="line 4: 1 edge from a node to itself; mend it, or read without strict"):
        read_graphs(tmp_path, strict=True)
    found = read_graphs(folder(tmp_path, edge_labels=None, **mixed))
    assert found.ptr.tolist() == [0, 2, 2, 5, 6]
    assert found.edge_index.T.tolist() == [[0, 1], [1, 0], [2, 3], [3, 2], [3, 4], [4, 3]]
    assert found.x.argmax(1).tolist() == [1, 0, 0, 2, 1, 2]
    assert "line 3: nodes do not stand graph by graph: they are put in that order" in found.notes[-1]
    found = read_graphs(text(tmp_path / "SET.txt", "2\n2 0\n0 1 1\n0 0\n1 1\n0 0\n"))
    assert found.edge_index.tolist() == [[0, 1], [1, 0]]
    assert "SET.txt, line 3: 1 edge in one direction alone" in found.notes[0]


def test_without_any_edge(tmp_path):
    found = read_graphs(folder(tmp_path, A=""))
    assert found.adjacency.num_edges == 0
    assert found.describe()["without_edges"] == 4
    assert "SET_A.txt has no edge" in found.notes[0]


def test_a_file_of_edges_that_looks_cut_short(tmp_path):
    whole = {
        "A": "".join(f"{2 * i + 1}, {2 * i + 2}\n{2 * i + 2}, {2 * i + 1}\n" for i in range(8)),
        "graph_indicator": "".join(f"{i + 1}\n{i + 1}\n" for i in range(8)),
        "graph_labels": "1\n2\n" * 4,
        "node_labels": None,
    }
    folder(tmp_path, "WHOLE", **whole)
    folder(tmp_path, "CUT", **{**whole, "A": whole["A"][: whole["A"].index("7, 8")]})
    assert not read_graphs(tmp_path / "WHOLE").notes
    (note,) = read_graphs(tmp_path / "CUT").notes
    assert "CUT_A.txt: the last 5 of 8 graphs have no edge, as if the file were cut short" in note
    with pytest.raises(ValueError, match="cut short; mend it"):
        read_graphs(tmp_path / "CUT", strict=True)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "is empty: it must hold numbers"),
        ("\n \n", "is empty"),
        ("two\n", "line 1: 'two' is no whole number"),
        ("1\n2 0\n0 1 1\n0 1 0.5\n", "line 4: '0.5' is no whole number"),
        ("1\n2 0\n0 1 1\n0 1 1-1\n", "line 4: '1-1' is no whole number"),
        (b"1\n2 \xff\n", "line 2: '\ufffd' is no whole number"),
        (f"1\n2 0\n0 {'9' * 19} 1\n", "line 3: '9999999999999999999' is longer than a number may be"),
        ("1 2\n", "line 1: it must say how many graphs there are"),
        ("0\n", "line 1: it must say how many graphs there are"),
        ("9\n1 0\n0 0\n", "line 1: it says 9 graphs, and the file has 2 lines more: is it cut short"),
        (TEXT[:34], "line 7: graph 2 of 4 has 3 nodes, but the file ends before: is it cut short"),
        (TEXT.replace("4\n", "3\n", 1), "line 11: more follows after the 3 graphs that line 1 says"),
        (TEXT.replace("\n3 1\n", "\n2 1\n"), "line 10: graph 3 of 4 begins here, .* two numbers; got 3 numbers"),
        (TEXT.replace("0 -1\n", "-1 -1\n"), "line 6: graph 1 of 4 begins here"),
        (TEXT.replace("9 2 0 2", "9 3 0 2"), "line 9: a node has its tag, .* it says 3 neighbours and names 2"),
        (TEXT.replace("9 2 0 2", "9 2 0 3"), "line 9: 3 is no node of its graph, whose nodes are 0 … 2"),
        (TEXT.replace("9 2 0 2", "9 2 0 -1"), "line 9: -1 is no node of its graph"),
        (TEXT.replace("9 2 0 2", "9"), "line 9: a node has its tag, .* got one number"),
        ("1\n2 0\n0\n-1 1 0\n", "line 3: a node has its tag, .* got one number"),
        (f"1\n{10**17} 0\n", "line 2: graph 0 of 1 has 100,000,000,000,000,000 nodes, but the file ends before"),
        ("2\n0 1\n0 2\n", "at least one graph must have a node"),
        ("2\n1 7\n0 0\n1 7\n1 0\n", "one class alone, 7, of 2 graphs"),
    ],
)
def test_text_that_is_damaged(tmp_path, content, words):
    with pytest.raises(ValueError, match=f"own.txt.*{words}") as error:
        read_graphs(text(tmp_path / "own.txt", content))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"graph_indicator": None}, "cannot read .*SET_graph_indicator.txt: No such file"),
        ({"graph_labels": None}, "cannot read .*SET_graph_labels.txt: No such file"),
        ({"graph_indicator": ""}, "SET_graph_indicator.txt is empty"),
        ({"graph_labels": "1\n0.5\n"}, "SET_graph_labels.txt, line 2: '0.5' is no whole number"),
        ({"graph_labels": "1,1\n" * 4}, "SET_graph_labels.txt, line 1: a graph has one label, got 2"),
        ({"graph_labels": "1\n2\n1\n"}, "SET_graph_indicator.txt, line 6: there is no graph 4: .* those of 3 graphs"),
        ({"graph_indicator": "0\n1\n3\n3\n3\n4\n"}, "SET_graph_indicator.txt, line 1: there is no graph 0"),
        ({"graph_indicator": "1 1\n" * 6}, "SET_graph_indicator.txt, line 1: a node is in one graph, got 2 numbers"),
        ({"A": "1, 2\n2, 7\n"}, "SET_A.txt, line 2: there is no node 7: .* has 6 nodes, from 1"),
        ({"A": "0, 1\n"}, "SET_A.txt, line 1: there is no node 0"),
        ({"A": "1, 2\n\n2, 3\n"}, "SET_A.txt, line 3: node 2 is in graph 1 and node 3 in graph 3"),
        ({"A": "1, 2\n2\n"}, "SET_A.txt, line 2: it holds 1 number, and line 1 2"),
        ({"A": "1, 2, 3\n"}, "SET_A.txt, line 1: an edge is two nodes, got 3 numbers"),
        ({"node_labels": "1\n" * 5}, "SET_node_labels.txt has 5 lines, but the set has 6 nodes"),
        ({"node_attributes": "1\n" * 5 + "nan\n"}, "SET_node_attributes.txt, line 6: 'nan' is no number"),
        ({"node_attributes": "1\n" * 5 + "1e39\n"}, "line 6: '1e39' is beyond what float32 holds"),
        ({"node_attributes": "1\n" * 5 + "1.2.3\n"}, "line 6: '1.2.3' is no number"),
        ({"graph_labels": "3\n" * 4}, "one class alone, 3, of 4 graphs"),
    ],
)
def test_folders_that_are_damaged(tmp_path, changes, words):
    with pytest.raises(ValueError, match=words) as error:
        read_graphs(folder(tmp_path, **changes))
    assert "\n" not in str(error.value)
    assert str(tmp_path) in str(error.value)


def test_where_files_are_looked_for(tmp_path, monkeypatch):
    monkeypatch.delenv("PANCONV_TU", raising=False)
    with pytest.raises(ValueError, match=r"set PANCONV_TU to the folder that holds NONE.txt or NONE/"):
        read_graphs("NONE")
    inner = tmp_path / "Few" / "raw"  # as PyG keeps them
    inner.mkdir(parents=True)
    folder(inner, "Few")
    text(tmp_path / "OWN.txt")
    monkeypatch.setenv("PANCONV_TU", str(tmp_path))
    assert read_graphs("own").name == "OWN"
    assert read_graphs("FEW").name == "Few"
    with pytest.raises(ValueError, match=r"'NONE' is not in .*, which PANCONV_TU names: it holds Few, OWN"):
        read_graphs("NONE")
    monkeypatch.setenv("PANCONV_TU", str(tmp_path / "gone"))
    with pytest.raises(ValueError, match=r"set PANCONV_TU to the folder .* got .*gone"):
        read_graphs("own")
    assert read_graphs(folder(inner, "More") / "More").name == "More"
    assert read_graphs(inner / "More_A.txt").name == "More"
    with pytest.raises(ValueError, match=r"holds several: choose one of .*Few, .*More"):
        read_graphs(inner)
    with pytest.raises(ValueError, match=r"holds no DS_A.txt"):
        read_graphs(tmp_path)
    for source, words in (("no/such.txt", "neither a file nor a folder"), ("a\0b", "no path"), ("x" * 300, "too long")):
        with pytest.raises(ValueError, match=words):
            read_graphs(source)
    with pytest.raises(TypeError, match="a path or a name, got int"):
        read_graphs(3)
    with pytest.raises(ValueError, match="target=0 goes with a folder"):
        read_graphs(tmp_path / "OWN.txt", target=0)


@pytest.mark.skipif(OFFICIAL is None, reason="PANCONV_TU names no folder of MUTAG.txt, PROTEINS.txt and NCI1.txt")
@pytest.mark.parametrize("name", SIZES)
def test_the_official_files(name):
    began = time.process_time()
    found = read_graphs(name)
    assert time.process_time() - began < 5  # a fraction of a second where nothing else runs
    facts = found.describe()
    sizes = facts["graphs"], found.num_classes, facts["nodes"]["mean"], facts["edges"]["mean"], found.num_features
    assert sizes == pytest.approx(SIZES[name], abs=0.006)
    assert (found.x.sum(1) == 1).all()
    assert found.notes == ()


def test_nothing_but_a_set_or_one_line_comes_of_damaged_files():
    assert fuzz(150, seed=1) is None
