from dataclasses import replace

import pytest
import untrained

from panconv.best.across import Across, shared
from panconv.best.search import Missing, Search
from panconv.records.record import Results
from panconv.training.search import AGAIN
from panconv.training.space import Space
from panconv.training.spaces import SPACES

SEARCHES = tuple(
    Search(graph, space="warm", settings=4, seeds=1, finalists=1, reruns=2) for graph in ("cora", "citeseer")
)
ACROSS = Across(SEARCHES, finalists=2, reruns=3)


def test_the_best_in_the_mean_of_what_was_tried_everywhere(monkeypatch, tmp_path):
    untrained.use(monkeypatch)
    points = ACROSS.run(Results(tmp_path))
    records = Results(tmp_path).read()
    assert len(points) == 2
    again = [record for record in records if record.seed >= AGAIN and record.settings.get("halving") is None]
    for point in points:
        mine = [each for each in again if (each.operator, each.settings) == (point.operator, point.settings)]
        by_graph = [[each.val_accuracy for each in mine if each.dataset == graph] for graph in ("cora", "citeseer")]
        means = [sum(values[:3]) / 3 for values in by_graph]
        assert point.val_accuracy == pytest.approx(sum(means) / 2)
    assert points[0].val_accuracy >= points[1].val_accuracy
    assert ACROSS.choice(records) == points[0]
    with pytest.raises(Missing):
        ACROSS.choice([record for record in records if record.seed != AGAIN + 2])


def test_a_graph_that_is_left_out_has_no_part_in_it(monkeypatch, tmp_path):
    untrained.use(monkeypatch)
    ACROSS.run(Results(tmp_path))
    records = Results(tmp_path).read()
    alone = Across(SEARCHES[:1], finalists=2, reruns=3)
    worse = [replace(each, val_accuracy=0.1) if each.dataset == "citeseer" else each for each in records]
    none = [each for each in records if each.dataset == "cora"]
    points = [alone.run(untrained_results(each)) for each in (records, worse, none)]
    assert points[0] == points[1] == points[2]


def untrained_results(records):
    from panconv.best.search import _Kept

    kept = _Kept(list(records))
    kept.add = kept.records.extend
    return kept


def test_what_fails_on_one_graph_is_no_choice(monkeypatch, tmp_path):
    untrained.use(monkeypatch)
    found = {each.graph: each.run(Results(tmp_path)).records for each in SEARCHES}
    tried = {graph: [each for each in records if each.seed < AGAIN] for graph, records in found.items()}
    best = shared(tried)[0]
    failed = [
        replace(each, val_accuracy=0.0, best_epoch=0) if each.operator == best.operator else each
        for each in tried["cora"]
    ]
    ranking = shared({**tried, "cora": failed})
    assert ranking[0].operator != best.operator
    assert [point.val_accuracy for point in ranking if point.operator == best.operator] == [0.0]
    assert "halving" not in ranking[0].settings


def test_what_was_published_for_a_graph_is_no_choice_where_it_is_left_out(monkeypatch, tmp_path):
    untrained.use(monkeypatch)
    point = SPACES["random-propagation"].points[0]  # Cora's
    monkeypatch.setitem(SPACES, "points", Space(point, (point, {**point, "lr": 0.5})))
    one = Search("citeseer", space="points", settings=2, seeds=1, finalists=1, reruns=1, values={"nodes": 50})
    for left_out, count in (("", 2), ("cora", 1), ("pubmed", 2)):
        points = Across((one,), left_out=left_out).run(Results(tmp_path))
        assert len(points) == count
        assert ([each.settings["lr"] for each in points] == [0.5]) == (left_out == "cora")
