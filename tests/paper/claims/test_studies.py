"""The rules about studies of operators, on files that never were."""

import json

import pytest

from panconv.paper.claims import studies
from panconv.paper.claims.claim import CAME_OUT, IN_PART, NOT, OPEN, Evidence, MissingRecords
from panconv.paper.published import GRAPHS


def judge(rule, tmp_path, files):
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(json.dumps(content))
    return rule(Evidence([], tmp_path))


@pytest.mark.parametrize(
    ("cold", "hot", "by_frequency", "by_length"),
    [
        (("low-pass", [0.9, 0.1]), ("high-pass", [0.1, 0.9]), CAME_OUT, CAME_OUT),
        (("all-pass", [1.0, 0.0]), ("low-pass", [0.2, 0.8]), NOT, CAME_OUT),
        (("low-pass", [0.4, 0.6]), ("low-pass", [0.6, 0.4]), IN_PART, NOT),
    ],
)
def test_filters(cold, hot, by_frequency, by_length, tmp_path):
    pairs = (("inf", hot), (0.0, cold))
    found = [{"temperature": T, "kind": kind, "shares": shares} for T, (kind, shares) in pairs]
    files = {f"filters/cora-{method}.json": {"filters": found} for method in (1, 2, 5)}
    assert judge(studies.passes_by_frequency, tmp_path, files).verdict == by_frequency
    assert judge(studies.passes_by_length, tmp_path, files).verdict == by_length
    assert judge(studies.shares_grow, tmp_path, files).verdict == (CAME_OUT if hot[1][0] < hot[1][1] else NOT)


@pytest.mark.parametrize(
    ("ring", "attached", "expected"),
    [(0.5, 0.5, CAME_OUT), (0.5, 1.2, IN_PART), (1.0, 1.2, NOT), (0.5, 0.99, OPEN)],
)
def test_a_hub_is_diluted_where_it_counts_for_less(ring, attached, expected, tmp_path):
    graphs = {
        graph: {"operators": [{"formula": "P", "same": [{"mean": mean, "std": 0.02 * (mean != 1)}]}]}
        for graph, mean in (("ring", ring), ("preferential attachment", attached))
    }
    files = {"influence/walks.json": {"graphs": graphs, "trials": 10}}
    assert judge(studies.dilutes("P"), tmp_path, files).verdict == expected


@pytest.mark.parametrize(("means", "expected"), [((1, 1, 1), CAME_OUT), ((0.5, 1, 1), IN_PART), ((0.5, 2, 3), NOT)])
def test_followers_change_nothing_at_any_distance(means, expected, tmp_path):
    relative = [[{"mean": 7.0}, {"mean": mean}] for mean in means]  # by the number of followers: the last counts
    files = {"influence/shortest.json": {"followers": {"operators": [{"formula": "M", "relative": relative}]}}}
    assert judge(studies.followers_change("M", "shortest"), tmp_path, files).verdict == expected


def both(maximal, generic):
    return {"maximal-entropy": maximal, "generic": generic}


@pytest.mark.parametrize(("maximal", "expected"), [(0.9, CAME_OUT), (0.7, NOT)])
def test_tasks_of_walks(maximal, expected, tmp_path):
    steps = {kind: [{"mean": 0.1, "std": 0.0}, {"mean": mean, "std": 0.0}] for kind, mean in both(maximal, 0.8).items()}
    links = {f"{kind}, superposed": of for kind, of in steps.items()}
    groups = {
        kind: {of: {"mean": mean, "std": 0.01} for of in ("modularity", "nmi")}
        for kind, mean in both(maximal, 0.8).items()
    }
    files = {f"merw/links-{name}.json": {"auc": links, "trials": 10} for name in GRAPHS}
    files |= {f"merw/communities-{name}.json": {**groups, "trials": 10} for name in GRAPHS}
    assert judge(studies.predicts_links, tmp_path, files).verdict == expected
    assert judge(studies.finds_communities, tmp_path, files).verdict == expected


def test_a_file_that_is_missing_is_named(tmp_path):
    with pytest.raises(MissingRecords, match=r"filters/cora-2\.json"):
        studies.passes_by_length(Evidence([], tmp_path))
