from dataclasses import replace

import pytest
import untrained

from panconv.best.search import Either, Missing, Search
from panconv.records.record import Results
from panconv.training.search import AGAIN, TRYING

SEARCH = Search("cora", settings=4, seeds=2, finalists=2, reruns=3)


def test_what_was_run_is_found_again_from_the_records_alone(monkeypatch, tmp_path):
    batches = untrained.use(monkeypatch)
    found = SEARCH.run(Results(tmp_path))
    trained = len(batches)
    records = Results(tmp_path).read()
    assert {record.seed for record in records} == {*range(TRYING, TRYING + 2), *range(AGAIN, AGAIN + 3)}
    assert not any(record.tested for record in records)
    assert SEARCH.choice(records) == found.choice
    assert SEARCH.found(records).ranking == found.ranking
    assert len(batches) == trained
    other = Search("citeseer", settings=4, seeds=2, finalists=2, reruns=3)
    with pytest.raises(Missing, match="the search of pan on citeseer is not complete"):
        other.found(records)
    for record in records[:1] + records[-1:]:
        with pytest.raises(Missing):
            SEARCH.found([each for each in records if each != record])


def test_the_better_of_two_searches_counts(monkeypatch, tmp_path):
    untrained.use(monkeypatch)
    other = Search("cora", settings=4, seeds=2, finalists=2, reruns=3, values={"hidden": 16})
    both = Either((SEARCH, other))
    assert both.tried == 8
    found = both.run(Results(tmp_path))
    records = Results(tmp_path).read()
    choices = [each.choice(records) for each in both.searches]
    assert found == both.choice(records) == max(choices, key=lambda point: point.val_accuracy)
    assert choices[0].val_accuracy != choices[1].val_accuracy
    for wins, search in zip((False, True), both.searches, strict=True):
        better = [
            replace(each, val_accuracy=1.0) if each.seed >= AGAIN and (each.settings["hidden"] == 16) == wins else each
            for each in records
        ]
        assert both.choice(better) == search.choice(better)
    with pytest.raises(Missing):
        both.choice([each for each in records if each.settings["hidden"] != 16])
    assert both.trainings == SEARCH.trainings + other.trainings
    assert both.quick() == SEARCH.quick()
    assert (both.model, both.of("gcn").model) == ("pan", "gcn")
    assert [each.values for each in both.of("gcn").searches] == [{}, {"hidden": 16}]


def test_a_group_of_its_own():
    groups = [replace(SEARCH, group=group).drawn_from().group for group in (None, 2)]
    assert groups == [SEARCH.drawn_from().group, 2]
    assert groups[0] != 2


def test_a_baseline_has_its_own_space_and_a_graph_its_metric(monkeypatch, tmp_path):
    untrained.use(monkeypatch)
    found = Search("cora", "gcn", settings=3, seeds=1, finalists=1, reruns=1).run(Results(tmp_path))
    assert found.choice.settings.keys() >= {"hidden", "lr"}
    assert Search("minesweeper", space="heterophilous").drawn_from().values["metric"] == "auc"
    assert Search("squirrel_filtered", "res_gcn").drawn_from().values["metric"] == "accuracy"
    assert "metric" not in SEARCH.drawn_from().values


def test_a_first_look_is_short():
    quick = SEARCH.quick()
    assert (quick.settings, quick.seeds, quick.finalists, quick.reruns) == (2, 1, 1, 1)
    drawn = quick.drawn_from().settings(range(40), 0, ())
    assert {each["epochs"] for each in drawn} == {10}
    assert "epochs" not in Search("cora", "lp").quick().drawn_from().values  # which has none
