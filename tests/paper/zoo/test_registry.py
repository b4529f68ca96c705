import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import panconv.paper.zoo
from panconv.paper.published import GRAPHS, TABLE2
from panconv.paper.zoo import METHODS, trainer
from panconv.paper.zoo.registry import checked


def test_a_row_for_each_baseline_of_table_2_in_its_order():
    assert [method.title for method in METHODS.values() if method.in_table2] == list(TABLE2)
    assert [method.title for method in METHODS.values()][:24] == list(TABLE2)
    assert all(method.citation for method in METHODS.values())


@pytest.mark.parametrize("name", METHODS)
def test_each_method_is_a_file_that_opens_with_its_idea_and_source(name):
    module = import_module(f"panconv.paper.zoo.{name}")
    assert trainer(name) is module.train
    assert len(module.__doc__.strip().splitlines()) >= 2


def test_rows_outside_the_table_have_no_figure_there():
    outside = {name: method.paper for name, method in METHODS.items() if not method.in_table2}
    names = ("appnp", "ssgc", "ngcn", "line", "high_temperature", "harmonic")
    names += ("gcnii", "deep_gcn", "res_gcn", "res_sage", "res_gat", "gprgnn")
    assert outside == dict.fromkeys(names, (None, None, None))


def test_settings_by_graph():
    for method in METHODS.values():
        assert set(method.changes) <= set(GRAPHS)
        for changes in method.changes.values():
            assert changes.keys() <= method.settings.keys(), method.title
        assert method.on("a graph of one's own") == method.settings


def test_names_as_a_user_may_write_them():
    assert checked("Graph-CNN") == checked("graph_cnn") == "graph_cnn"
    assert checked(" GWNN ") == "gwnn"
    assert checked("S²GC") == checked("ssgc") == "ssgc"
    assert checked("High temperature") == checked("high-temperature") == "high_temperature"
    for method in METHODS.values():
        assert METHODS[checked(method.title)] is method
    with pytest.raises(ValueError, match="'gnc' is no method of the zoo: it has lp, ica"):
        checked("gnc")


def test_the_list_needs_no_torch():
    modules = "panconv.records.ranking, panconv.training.runner, panconv.paper.zoo.menu"
    code = f"import sys, {modules}; print('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


def test_scikit_learn_is_asked_for_by_logistic_regression_alone():
    for path in Path(panconv.paper.zoo.__file__).parent.glob("*.py"):
        if path.stem not in ("ica", "logistic"):
            assert "sklearn" not in path.read_text(), path
