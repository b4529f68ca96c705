"""The rules of the house: imports go one way, the core runs without the command line, the surface stays small."""

import ast
import subprocess
import sys
from pathlib import Path

import panconv

PACKAGE = Path(panconv.__file__).parent
# The rooms of CONTRIBUTING.md: each may import those above it, and itself.
ROOMS = [
    *(
        "moved",
        "base",
        "graph",
        "compute",
        "weights",
        "paths",
        "met",
        "spectral",
        "nn",
        "transforms",
        "testing",
        "data",
    ),
    *("records", "training", "walkers", "tasks", "estimator", "whole_graphs", "paper", "best", "cli"),
]
RANK = {name: rank for rank, name in enumerate(ROOMS)}
PUBLIC = [
    "Adjacency",
    "Boltzmann",
    "EffectiveWalks",
    "Fixed",
    "Free",
    "MET",
    "METHODS",
    "METTransform",
    "PAN",
    "PANClassifier",
    "PANConv",
    "PANGraph",
    "PANPool",
    "PANRegressor",
    "PathFeatures",
    "PowerLaw",
    "SelfAvoidingPaths",
    "ShortestPaths",
    "Walks",
    "eigs",
    "fit",
    "grid_search",
    "lanczos",
    "load",
    "load_model",
    "read",
]
# Tested through what uses them, by the test files that say so.
COVERED = {
    "__main__": "cli",
    "base/checks": "base/test_misuse",
    "base/heads": "cli/test_fit",
    "base/launch": "compute/kernels",
    "base/tracing": "training/test_cuda_graph",
    **{f"best/{name}": "best/test_rows" for name in ("ablation", "contests", "elsewhere", "ladder")},
    "best/studies": "best/test_study",
    "cli": "cli",
    "compute/feature_pattern": "compute/test_features",
    "compute/kernels": "compute/kernels",
    "compute/series_gradient": "compute/test_series",
    "data/cells": "data/test_columns",
    "data/column_names": "data/test_read",
    "data/export": "data/test_csv_writing",
    "data/encoders": "data/test_features",
    "data/feature_block": "data/test_features",
    "data/edge_list": "data/test_graph",
    "data/from_tables": "data/test_read",
    "data/learned_blocks": "data/test_features",
    "data/labels": "data/test_graph",
    **{f"data/{name}": "data/test_graph_files" for name in ("graph_edges", "graph_features", "graph_text")},
    "data/graph_list": "data/test_graph_set",
    "data/graph_set_checks": "data/test_graph_set",
    "data/load": "data/test_builtin",
    "data/number_file": "data/test_graph_files",
    "data/described": "cli/test_own_graphs",
    "data/trainable": "cli/test_own_graphs",
    "training/estimate": "cli/test_own_graphs",
    "data/points/torus": "data/points/test_near",
    "data/remarks": "data/test_read",
    "data/tables": "data/test_read",
    "data/tu_folder": "data/test_graph_files",
    **{
        f"estimator/{name}": "estimator/test_linear"
        for name in ("axes", "losses", "penalties", "ridge", "scaled", "solver")
    },
    **{f"estimator/{name}": "estimator/test_classifier" for name in ("base", "labels")},
    **{f"estimator/{name}": "estimator/test_sure" for name in ("answers", "calibration")},
    **{f"estimator/explaining/{name}": "estimator/explaining/test_deep" for name in ("gated", "unrolled")},
    **{f"estimator/folder/{name}": "estimator/test_saving" for name in ("fitted", "heads", "plain")},
    "estimator/explaining/parts": "estimator/explaining/test_linear",
    "estimator/explaining/text": "estimator/explaining/test_explanation",
    "estimator/pages": "estimator/pages",
    "estimator/nodes": "estimator/test_path_features",
    "estimator/worth_of_numbers": "estimator/test_worth",
    "estimator/terms": "estimator/test_path_features",
    "graph/bases": "graph/test_adjacency",
    "graph/blocks": "graph/test_gpu",
    "graph/csr": "graph/test_sorting",
    "graph/cutting": "graph/test_batching",
    "graph/degrees": "met/test_extremes",
    "graph/masked": "nn/test_explainable",
    "graph/operands": "graph/test_adjacency",
    "graph/pieces": "graph/test_picking",
    "graph/seen": "graph/test_prepared",
    "graph/travelling": "graph/test_batching",
    "met/columns": "met/test_entries",
    "met/dispatch": "met/test_extremes",
    "met/methods": "met/test_operator",
    "met/partition": "met/test_extremes",
    "met/plan": "met/test_operator",
    "met/reference": "campaign/test_oracle",
    "met/scalings": "met/test_extremes",
    "nn/graph_layers": "training/test_graph_models",
    "nn/handed": "nn/test_pan_pool",
    "nn/layers": "training/test_models",
    "nn/layout": "training/test_models",
    "nn/on_paths": "nn/test_pan_conv",
    "paper/claims/ledger": "paper/claims/test_ledger",
    "paper/claims/reach": "paper/claims/test_judges",
    "paper/figures": "paper/figures",
    "paper/published": "paper/tables",
    "paper/report": "paper/report",
    "paper/settings": "paper/tables",
    "paper/studies": "paper/studies",
    "paper/tables": "paper/tables",
    "training/budget": "training/test_search",
    "training/presets": "best/test_presets",
    "training/space": "training/test_spaces",
    **{f"paper/zoo/res_{name}": "paper/zoo/test_residual" for name in ("gat", "gcn", "sage")},
    "paths/levels": "paths/test_effective",
    "paths/masked": "nn/test_explainable",
    "paths/self_avoiding": "paths/test_formed",
    "paths/shortest": "paths/test_formed",
    "records/interval": "paper/claims/test_judges",
    "records/ranking": "training/test_grid",
    "records/schema": "records/test_record",
    "records/upgrades": "records/test_jsonl",
    "spectral/undirected": "spectral/test_laplacian",
    "training/by_trial": "training/test_side_by_side",
    "training/inputs": "training/test_fit",
    "training/present": "training/test_graph_folds",
    "training/runner": "training/test_pans",
    "training/state": "training/test_saving",
    **{f"whole_graphs/{name}": "whole_graphs/test_trainer" for name in ("models", "parts")},
    "weights/naming": "weights/test_kinds",
    "weights/path_weights": "weights/test_kinds",
    "weights/reading": "weights/test_kinds",
}


def imported(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (
                [f"panconv.{alias.name}" for alias in node.names] if node.module == "panconv" else [node.module]
            )


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_imports_go_one_way():
    for path in PACKAGE.rglob("*.py"):
        module = path.relative_to(PACKAGE).with_suffix("").parts[0]
        if module in ("__init__", "__main__"):
            continue
        for name in imported(path):
            if name.startswith("panconv.") and (other := name.split(".")[1]) != module:
                assert RANK[other] < RANK[module], f"{path.relative_to(PACKAGE)} imports {name}"


def test_the_core_imports_no_terminal_library():
    # With typer made unimportable, everything but the command line is there.
    run("import sys; sys.modules['typer'] = None; import panconv; [getattr(panconv, n) for n in dir(panconv)]")
    for path in PACKAGE.rglob("*.py"):
        if "cli" not in path.parts:
            assert not {name.split(".")[0] for name in imported(path)} & {"typer", "rich", "click"}, path


def test_report_and_help_never_import_torch():
    for module in ("panconv.paper.report", "panconv.cli", "panconv.records.record", "panconv"):
        assert run(f"import sys, {module}; print('torch' in sys.modules)") == "False", module


def test_public_surface():
    assert dir(panconv) == sorted(PUBLIC)
    for name in PUBLIC:
        assert getattr(panconv, name) is not None
    assert not hasattr(panconv, "NoSuchName")


def test_a_file_is_a_screenful_or_a_few():
    for path in PACKAGE.rglob("*.py"):
        assert len(path.read_text().splitlines()) <= 300, path


BRANCHES = (ast.If, ast.For, ast.While, ast.ExceptHandler, ast.IfExp, ast.BoolOp, ast.comprehension)


def test_a_function_is_read_at_a_glance():
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef):
                body = node.body[1:] if ast.get_docstring(node) else node.body
                lines = body[-1].end_lineno - body[0].lineno + 1 if body else 0
                branches = sum(isinstance(each, BRANCHES) for each in ast.walk(node))
                where = f"{path.relative_to(PACKAGE)}, {node.name}: {lines} lines, {branches} branches"
                assert lines <= 40, where
                assert branches <= 15, where


def test_tests_mirror_the_package_path_by_path():
    here = Path(__file__).parent
    for path in PACKAGE.rglob("*.py"):
        name = path.relative_to(PACKAGE).with_suffix("").as_posix()
        if path.name == "__init__.py":
            continue
        by = next((COVERED[place] for place in COVERED if name == place or name.startswith(f"{place}/")), None)
        twin = here / (by or f"{Path(name).parent}/test_{path.stem}")
        assert twin.with_suffix(".py").exists() or list(twin.glob("test_*.py")), f"no test for {name}: {twin}"


def test_what_is_covered_elsewhere_is_there():
    for place in COVERED:
        assert (PACKAGE / place).is_dir() or (PACKAGE / f"{place}.py").exists(), f"{place} has gone"
