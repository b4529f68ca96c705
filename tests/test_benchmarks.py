"""The benchmark suite runs, says what it measured, and counts bytes as a hand would."""

import importlib.util
import json
import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
import two_communities
from torch_geometric.datasets.graph_generator import ERGraph

import panconv

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
NAMES = ("product", "whole", "sweep", "memory", "growth", "training")
MACHINE = {"device", "load", "cpu", "cores", "threads", "torch", "pyg", "panconv", "cache_bytes", "copy_bytes_per_s"}
COMMON = {"benchmark", "graph", "nodes", "entries", "who", "F"}


def script(name, *arguments):
    path = os.pathsep.join([str(Path(panconv.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, str(BENCHMARKS / name), *map(str, arguments)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": path}
    return subprocess.run(command, capture_output=True, text=True, env=environment)


def test_presets_beside_pyg(scripts, monkeypatch, capsys):
    assert scripts("measure")  # which it imports, from where the suite is
    spec = importlib.util.spec_from_file_location("presets_benchmark", BENCHMARKS / "presets.py")  # tools has one too
    presets = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(presets)
    monkeypatch.setattr(presets, "load", lambda name, sparse=False: two_communities.small())
    presets.main(["--graphs", "citeseer", "pubmed", "--trials", "2", "--epochs", "2"])
    told = [line.split(": ")[0] for line in capsys.readouterr().out.splitlines() if line.endswith(" times faster")]
    first = "PyG with features propagated first, ours"
    assert told == [
        *(f"citeseer, {way}" for way in (first, "PyG with W first, ours")),
        *(f"pubmed, {way}" for way in (first, f"{first} at all nodes")),
    ]


def test_picking_beside_joining(scripts, capsys):
    scripts("picking").main(["--graphs", "12", "--batch", "4", "--rounds", "3"])
    names = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert names == ["picked", "block_diagonal", "Batch", "fresh", "an"]


def test_folds_side_by_side_beside_one_by_one(scripts, capsys, tmp_path):
    arguments = ["--graphs", "24", "--folds", "2", "--epochs", "1", "--rounds", "1", "--json", str(tmp_path / "x.json")]
    scripts("graph_folds").main(arguments)
    names = [line.split("  ")[0] for line in capsys.readouterr().out.splitlines() if " ms an epoch" in line]
    pairs = [f"{model}, {way}" for model in ("pan", "gin") for way in ("side by side", "one by one")]
    assert names == [*pairs, "GIN in PyG, one by one"]
    assert json.loads((tmp_path / "x.json").read_text())["ratios"].keys() == {"pan", "gin"}


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    """One quick run on the CPU: what it printed, where it wrote, where it drew."""
    out = tmp_path_factory.mktemp("suite")
    done = script("suite.py", "--quick", "--device", "cpu", "--out", out / "results", "--plots", out / "plots")
    assert done.returncode == 0, done.stdout + done.stderr
    (folder,) = (out / "results").iterdir()
    return done.stdout, folder, out / "plots"


def test_every_benchmark_leaves_flat_records(quick):
    _, folder, _ = quick
    assert sorted(path.name for path in folder.iterdir()) == sorted(f"{name}.json" for name in NAMES)
    for name in NAMES:
        result = json.loads((folder / f"{name}.json").read_text())
        assert result["schema"] == 1
        assert result["quick"] is True
        assert result["error"] is None
        assert set(result["machine"]) >= MACHINE
        for record in result["records"]:
            assert set(record) >= (COMMON if name != "training" else {"benchmark", "graph", "who", "ms"}), record
            assert record["benchmark"] == name
            assert all(value is None or isinstance(value, (str, int, float)) for value in record.values())


def test_ratios_are_those_of_the_times_and_all_sides_agree(quick):
    _, folder, _ = quick
    for name in ("product", "whole", "sweep"):
        records, ours = json.loads((folder / f"{name}.json").read_text())["records"], None
        peers = set()
        for record in records:
            if record["who"] == "panconv":
                ours = record["ms"]
                assert ours > 0
            elif record["error"] is None:
                peers.add(record["who"])
                assert record["ratio"] == pytest.approx(record["ms"] / ours)
                assert record["difference"] < 1e-5
        assert len(peers) >= 4


def test_tables_name_every_peer_and_plots_are_drawn(quick):
    printed, folder, plots = quick
    for words in (
        "One product",
        "torch CSR (int32)",
        "GPRGNN's scheme",
        "as PANConv",
        "Peak memory",
        "Growth",
        "Goals",
    ):
        assert words in printed
    drawn = {path.name.removeprefix(folder.name + "-"): path for path in plots.iterdir()}
    assert set(drawn) == {f"{n}.png" for n in ("edges", "memory-edges", "width", "length", "memory", "roofline")}
    assert all(path.read_bytes()[:4] == b"\x89PNG" and path.stat().st_size > 10_000 for path in drawn.values())


def test_tables_fill_a_page_between_its_markers(quick, tmp_path):
    _, folder, plots = quick
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- measured: begin -->\nold\n<!-- measured: end -->\nafter\n")
    done = script("tables.py", folder, "--write", page, "--plots", plots)
    assert done.returncode == 0, done.stderr
    made = page.read_text()
    assert made.startswith("before\n")
    assert made.endswith("\nafter\n")
    assert "old" not in made
    assert "| graph | F | dtype | panconv |" in made
    assert f"{folder.name}-roofline.png" in made
    page.write_text("no markers")
    assert "has no place for tables" in script("tables.py", folder, "--write", page).stderr
    assert page.read_text() == "no markers"


def test_bytes_of_a_product_by_hand(scripts):
    # 3 nodes, 4 entries, int32 indices, float32 values: 4 pointers and 4 columns of 4 bytes, 4 values of 4 bytes.
    product = scripts("roofline").Product(nodes=3, entries=4, F=2, item=4, value=4, index=4)
    assert product.matrix() == 16 + 16 + 16
    # 4 rows of 2 floats gathered and 3 written, or 3 read and 3 written.
    assert product.per_edge() == 48 + 4 * 8 + 3 * 8
    assert product.per_node() == 48 + 3 * 8 + 3 * 8
    # 104 bytes in a microsecond, where a copy moves 52.
    assert product.fractions(1e-3, 52e6)["of_copy_per_edge"] == pytest.approx(2.0)


def test_a_peer_that_fails_is_named_and_ours_must_not(scripts):
    measure, cpu = scripts("measure"), torch.device("cpu")

    def fails():
        raise RuntimeError("no such\nkernel")

    timings = measure.timed({"panconv": lambda: None, "peer": fails}, cpu, seconds=0.001)
    assert timings["peer"] == (None, 0, "no such kernel", None)
    assert timings["panconv"].ms >= timings["panconv"].best > 0
    with pytest.raises(RuntimeError, match="no such"):
        measure.timed({"panconv": fails, "peer": lambda: None}, cpu, seconds=0.001)


def test_the_goal_stands_beside_the_faster_variant(scripts):
    records, goals, timing = scripts("records"), scripts("goals"), scripts("measure").Timing
    setup = records.Setup(torch.device("cuda"), 1.0, 1)
    times = {"panconv": 1.0, "torch CSR (int64)": 3.0, "torch CSR (int32)": 2.0, "CuPy": 1.0}
    timings = {who: timing(ms, 3) for who, ms in times.items()}
    common = {"benchmark": "product", "graph": goals.BIG, "F": 16, "dtype": "float32"}
    found = {r["who"]: r for r in records.compared(timings, common, setup)}
    assert (found["torch CSR (int32)"]["goal"], found["torch CSR (int32)"]["met"]) == (2.5, False)
    assert not any("goal" in found[who] for who in ("panconv", "torch CSR (int64)", "CuPy"))


def test_peak_and_held_bytes(scripts):
    measure, cpu = scripts("measure"), torch.device("cpu")
    kept = torch.ones(1000)
    assert measure.held_bytes({"a": [kept, kept[:10]], "b": (kept.double(),)}) == 4000 + 8000
    # Two tensors of 4 MB at once, of which the first is let go before the third is made.
    assert measure.peak_bytes(lambda: torch.ones(1_000_000).add(1).mul(2), cpu) == pytest.approx(8_000_000, abs=1000)


def test_an_error_of_ours_is_told_and_what_came_before_it_stays(scripts, monkeypatch, capsys, tmp_path):
    suite, records = scripts("suite"), scripts("records")

    path = tmp_path / "broken.json"

    def measure(setup):
        yield {"benchmark": "broken", "who": "panconv"}
        assert json.loads(path.read_text())["error"] == "not finished"
        raise ValueError("a kernel went wrong")

    monkeypatch.setitem(sys.modules, "broken", SimpleNamespace(measure=measure))
    result = suite.measured("broken", records.Setup(torch.device("cpu"), 1.0, 1), {}, path)
    assert result.records == [{"benchmark": "broken", "who": "panconv"}]
    assert result.error == json.loads(path.read_text())["error"] == "a kernel went wrong"
    assert "Traceback" in capsys.readouterr().out


GRAPHS = """
import numpy as np, scipy.sparse as sp, torch
from graphs import communities, molecules, power_law
from peers import entries_of_power

cpu = torch.device("cpu")
def matrix(graph):
    return sp.coo_matrix((np.ones(graph.entries), graph.edge_index.numpy()), (graph.num_nodes,) * 2).tocsr()
for graph in (power_law(3000, 30_000, cpu), communities(3000, 30_000, cpu, True), molecules(9, cpu)):
    A = matrix(graph)
    assert A.max() == 1 and A.diagonal().sum() == 0 and (A != A.T).nnz == 0, graph.name
    assert graph.adj.is_symmetric and graph.adj.num_edges == A.nnz
degree = np.sort(np.asarray(matrix(power_law(3000, 30_000, cpu)).sum(1)).ravel())[::-1]
assert 1.5 < degree[50:150].mean() / degree[350:450].mean() < 2.5  # rank 100 over rank 400, ^-1/2: about 2
inside = [(g.edge_index[0] // 500 == g.edge_index[1] // 500).float().mean()
          for g in (communities(3000, 30_000, cpu, True), communities(3000, 30_000, cpu, False))]
assert inside[0] > 0.9 and inside[1] < 0.3
graph = molecules(9, cpu)
walks = (matrix(graph) + sp.eye(graph.num_nodes)) ** 3
assert entries_of_power(graph, 3, sample=graph.num_nodes) == walks.nnz
"""


def test_graphs_are_what_their_names_say(tmp_path):
    (tmp_path / "check.py").write_text(f"import sys; sys.path.insert(0, {str(BENCHMARKS)!r})\n" + GRAPHS)
    done = script(tmp_path / "check.py")
    assert done.returncode == 0, done.stderr


def test_contention_is_told_against_the_idle_time_of_before(scripts):
    times = {
        "before": {"idle": [10.0, 10.0, 11.0], "contended": [90.0, 99.0, 95.0]},
        "now": {"idle": [10.2, 10.4, 10.3], "contended": [20.0, 21.0, 25.0]},
    }
    before, now = scripts("contention").table(times, "layer", "pubmed")[2:]
    assert before.split("|")[1:-1] == [" before ", " 10.0 ", " 10.0 ", " 1.00 ", " 95.0 ", " 9.50 ", "  "]
    assert now.split("|")[1:-1] == [" now ", " 10.3 ", " 10.2 ", " 1.03 ", " 21.0 ", " 2.10 ", " both goals "]


def test_a_worker_of_the_contention_benchmark_answers_each_line():
    command = [sys.executable, str(BENCHMARKS / "contention.py"), "--worker", "layer", "--graph", "cora"]
    path = {"PYTHONPATH": str(Path(panconv.__file__).parents[1]), "OMP_NUM_THREADS": "1"}
    run = subprocess.run(command, input="go\ngo\n", capture_output=True, text=True, env={**os.environ, **path})
    ready, *lines = run.stdout.splitlines()
    assert ready == "ready", run.stderr
    assert [len(line.split()) for line in lines] == [4, 4]


def shortest_by_hand(edges, node, infected, most):
    """The edges of all shortest ways to a node from the nearest infected nodes, among all ways there are."""
    ways, ends = [(node,)], [(node,)]
    for _ in range(most):
        ends = [(*way, source) for way in ends for source, target in edges if target == way[-1]]
        ways += ends
    found = [way for way in ways if infected[way[-1]]]
    nearest = min(map(len, found), default=0)
    return {(heard, hears) for way in found if len(way) == nearest for hears, heard in pairwise(way)}


@pytest.mark.parametrize("seed", range(30))
def test_the_true_edges_are_those_of_all_shortest_ways(scripts, seed):
    random = np.random.default_rng(seed)
    edges = np.argwhere(random.random((7, 7)) < random.choice([0.15, 0.3]))  # loops among them
    infected, most = random.random(7) < 0.25, int(random.integers(1, 4))
    edge_index = torch.from_numpy(edges).T
    for node in range(7):
        found = scripts("judging").true_edges(edge_index, node, torch.from_numpy(infected), most)
        expected = shortest_by_hand(edges.tolist(), node, infected, most)
        assert set(map(tuple, edges[found.numpy()].tolist())) == expected


def test_the_classes_of_an_infection_are_the_lengths_of_true_paths(scripts):
    data = scripts("explanations").infection(ERGraph(60, 0.03), 3)
    for node in range(60):
        true = scripts("judging").true_edges(data.edge_index, node, data.infected, 3)
        assert bool(true.any()) == (1 <= int(data.y[node]) <= 3)
        assert int(true.sum()) >= int(data.y[node]) % 4
    assert {0, 1, 2, 3, 4} == set(data.y.tolist())


def test_edges_within_the_steps_of_a_model(scripts):
    edge_index = torch.tensor([[1, 2, 3, 0, 2], [0, 1, 2, 3, 0]])
    within = [scripts("judging").within(edge_index, 0, 4, most).tolist() for most in (1, 2, 3)]
    assert within == [[True, False, False, False, True], [True, True, True, False, True], [True] * 4 + [True]]


def test_paths_count_for_the_edges_that_they_take(scripts):
    edge_index = torch.tensor([[1, 2, 0, 2], [0, 1, 1, 2]])
    of_paths = scripts("explainers").EdgesOfPaths(edge_index)
    found = of_paths([((0, 1, 2), 0.5), ((0, 1), -2.0), ((0, 1, 0, 1), 1.0), ((0,), 9.0), ((0, 0, 1, 2, 2), 0.25)])
    assert found.tolist() == [0.5 - 2.0 + 1.0 + 0.25, 0.75, 1.0, 0.0]  # each edge once, and staying is no edge


def test_best_edges_are_so_many_and_equals_are_drawn(scripts):
    judging = scripts("judging")
    scores = torch.tensor([0.0, 3.0, -1.0, 2.0, 0.0, 0.0])
    assert judging.best_edges(scores, 2).tolist() == [False, True, False, True, False, False]
    drawn = {tuple(judging.best_edges(scores, 3, seed).nonzero().flatten().tolist()) for seed in range(20)}
    assert drawn == {(0, 1, 3), (1, 3, 4), (1, 3, 5)}
    assert judging.recall(scores, torch.tensor([False, True, True, True, False, False])) == pytest.approx(2 / 3)


def test_fidelity_with_and_without_edges(scripts):
    # Node 0 is of the class that its one neighbour says, and of class 0 by itself.
    model = panconv.PANConv(2, 2, L=1, method=8, weights=[1.0, 3.0], bias=False)
    with torch.no_grad():
        model.lin.weight.copy_(torch.eye(2))
    x, edge_index = torch.eye(2), torch.tensor([[1, 0], [0, 1]])
    judge = scripts("judging").Judge(model.eval(), x, edge_index)
    mattering, other = torch.tensor([True, False]), torch.tensor([False, True])
    assert judge.fidelity(0, mattering) == (1.0, 0.0)
    assert judge.fidelity(0, other) == (0.0, 1.0)
    Fidelity = scripts("judging").Fidelity
    assert Fidelity.mean([Fidelity(1.0, 0.0), Fidelity(0.0, 0.5)]) == (0.5, 0.25)
    assert Fidelity(0.5, 0.25).character == pytest.approx(1 / (0.5 / 0.5 + 0.5 / 0.75))
    assert Fidelity(0.0, 0.0).character == 0.0


def test_explanations_are_judged(scripts, capsys, tmp_path):
    scripts("explanations").main(["--quick", "--cases", "infection, tree", "--json", str(tmp_path / "found.json")])
    lines = capsys.readouterr().out.splitlines()
    told = json.loads((tmp_path / "found.json").read_text())["records"]
    ours, peers = {"panconv, paths", "panconv, edges"}, {"GNNExplainer", "saliency", "integrated gradients", "random"}
    for model in ("linear", "deep"):
        at = next(i for i, line in enumerate(lines) if line.startswith(f"infection, tree, {model} model, 1 graphs"))
        rows = {line.split(" | ")[0].removeprefix("| ") for line in lines[at + 3 : at + 10]}
        assert rows == ours | peers | {"GNNExplainer, tuned"}
        records = [record for record in told if record["model"] == model]
        assert len(records) == len(rows)
        assert all(0 <= record["recall"] <= 1 and record["without 3"] in (0, 1) for record in records)
