"""Columns of a later table that look otherwise are read as when features were learned, or a line says why not."""

import datetime
import json
import re
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from panconv import read
from panconv.data.features import Features

pa = pytest.importorskip("pyarrow")
N = 12


def table(cells, path=None, delimiter=","):
    """A graph of N nodes whose one column repeats these cells: from a frame, or from a file."""
    ids = [f"n{i}" for i in range(N)]
    cells = (list(cells) * N)[:N]
    edges = pd.DataFrame({"source": ids[1:], "target": ids[:-1]})
    if path is None:
        return read(edges, pd.DataFrame({"id": ids, "c": cells}))
    rows = [f'{name}{delimiter}"{cell}"' for name, cell in zip(ids, cells, strict=True)]
    path.write_text("\n".join([f"id{delimiter}c", *rows]) + "\n")
    return read(edges, path)


def features_of(learned, graph):
    x = learned.transform(graph)
    return x.toarray() if sp.issparse(x) else x


def said(learned, graph):
    """The features, and the one line that was said."""
    with pytest.warns(UserWarning, match="the column 'c' ha[ds] ") as lines:
        x = features_of(learned, graph)
    assert len({str(each.message) for each in lines}) == 1
    return x, str(lines[0].message)


DAY_FIRST = ["13/04/2024", "03/04/2024", "05/06/2023"]
SAME = {
    "dates whose days are all below 13": (DAY_FIRST, ["03/04/2024", "05/06/2023"], ["2024-04-03", "2023-06-05"]),
    "dates among other texts": (DAY_FIRST, ["03/04/2024", None, "n/a"], ["2024-04-03", None, None]),
    "dates in another notation": (DAY_FIRST, ["31.12.2024", "2024/01/02"], ["2024-12-31", "2024-01-02"]),
    "dates of Arrow's": (DAY_FIRST, [datetime.date(2024, 4, 3)], ["2024-04-03"]),
    "truth for 1 and 0": ([True, False], ["True", "false"], ["1", "0"]),
    "1 and 0 for truth": ([True, False], ["1", "0"], ["1", "0"]),
    "truth in other letters": (["True", "False"], ["true", "false"], ["True", "False"]),
    "Arrow's truth for texts": (["True", "False"], [True, False], ["True", "False"]),
    "categories that are all numbers": (["7", "x"], ["7", "7"], ["7", "7"]),
    "numbers written with a point": (["1.0", "x"], ["1.0", "2.5"], ["1.0", "y"]),
    "codes that are unknown numbers": (["none", "full"], ["none", "-"], ["none", "y"]),
    "dates for categories": (["2024-01-31", "x"], ["2024-01-31"] * 2, ["2024-01-31", "2024-01-31"]),
    "Arrow's dates for categories": (["2024-01-31", "x"], [datetime.date(2024, 1, 31)], ["2024-01-31"]),
    "categories for text": (
        [f"the node number {i} of all" for i in range(N)],
        ["the node", "all"],
        ["the node", "all"],
    ),
    "numbers for text": ([f"the node number {i + 10} of all" for i in range(N)], [12, 13], ["12", "13"]),
    "names for text": (
        [f"the node number {i + 10} of all" for i in range(N)],
        [f"number {i + 10}" for i in range(N)],
        [f"number {i + 10}" for i in range(N)],
    ),
    "text for categories": (["a b c d", "x"], ["a b c d", *(f"e f g {i}" for i in range(5))], ["a b c d", *"pqrst"]),
}


@pytest.mark.parametrize("name", SAME)
def test_what_looks_otherwise_is_read_as_then(name):
    """The features of the later table are those of one that is written as it was."""
    then, now, plain = SAME[name]
    learned = Features.fit(table(then))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x = features_of(learned, table(now))
    expected = _by_hand(learned, plain)
    np.testing.assert_allclose(x, expected, atol=1e-5)
    assert np.ptp(x, axis=0).any() or len(set(plain)) == 1


def _by_hand(learned, cells):
    """Features of cells that are plain: dates as ISO, numbers as texts, categories as they were written."""
    cells = (cells * N)[:N]
    block = learned.blocks[0]
    if block.source == "dates":
        epoch = datetime.date(1970, 1, 1)
        days = [np.nan if each is None else float((datetime.date.fromisoformat(each) - epoch).days) for each in cells]
        turn = 2 * np.pi * np.array(days) / 365.2425
        return block.learned.transform(np.stack([days, np.sin(turn), np.cos(turn)], 1))
    if type(block.learned).__name__ in ("Numbers", "Counts"):
        return sp.csr_matrix(block.learned.transform(np.array(cells, float)[:, None])).toarray()
    return block.learned.transform(np.array(cells, object)).toarray()


def test_dates_in_the_other_notation_are_refused():
    learned = Features.fit(table(DAY_FIRST))
    with pytest.raises(ValueError, match=r"'c' has dates as %m/%d/%Y, and had them as %d/%m/%Y when .*: write them"):
        learned.transform(table(["04/13/2024", "04/03/2024"]))


def test_dates_without_a_known_notation_are_refused():
    """Those of a model that was written before notations were kept, or learned from dates that needed none."""
    content = Features.fit(table(DAY_FIRST)).plain()
    assert content["blocks"][0]["notations"] == ["%d/%m/%Y"]
    now = table(["03/04/2024", "05/06/2023"])
    again = Features.of_plain(json.loads(json.dumps(content)))
    assert np.ptp(features_of(again, now), axis=0).all()
    del content["blocks"][0]["notations"]
    for old in (Features.of_plain(json.loads(json.dumps(content))), Features.fit(table(["2024-01-31", "2023-02-01"]))):
        with pytest.raises(
            ValueError,
            match=r"'c' had dates when .* and no cell can be read as one now, such as '03/04/2024': write them as",
        ):
            old.transform(now)
    for wrong in (["%H"], [], "%d/%m/%Y", [3], [[]]):
        content["blocks"][0]["notations"] = wrong
        with pytest.raises(
            ValueError, match="notations is damaged: it must have one of '', '%d/%m/%Y', '%m/%d/%Y' per"
        ):
            Features.of_plain(content)


NONE = {
    "text for numbers": (
        [1.5, 2.5],
        ["low", "high"],
        "had numbers when .* no cell can be read as one now, such as 'low': write them with a",
    ),
    "dates for numbers": (
        [1.5, 2.5],
        ["2024-01-31"],
        "had numbers when .* no cell can be read as one now, such as '2024-01-31'",
    ),
    "yes for 1": ([True, False], ["yes", "no"], "had numbers when .* no cell can be read as one now, such as 'yes'"),
    "commas for points": (
        [1.5, 2.5],
        ["1,5", "2,5"],
        "had numbers when .* no cell can be read as one now, such as '1,5': .* decimal point and",
    ),
    "thousands": (
        [1500, 2500],
        ["1,500", "2 500"],
        "had numbers when .* no cell can be read as one now, such as '1,500'",
    ),
    "infinities": ([1.5, 2.5], ["inf", "x"], "had numbers when .* no cell can be read as one now, such as 'inf'"),
    "numbers for dates": (
        DAY_FIRST,
        [2024, 2023],
        "had dates when .* no cell can be read as one now, such as '2024': write them as 2024-01-31",
    ),
    "text for dates": (DAY_FIRST, ["soon", "late"], "had dates when .* no cell can be read as one now, such as 'soon'"),
}


@pytest.mark.parametrize("name", NONE)
def test_a_column_of_which_nothing_can_be_read_is_refused(name):
    then, now, line = NONE[name]
    learned = Features.fit(table(then))
    with pytest.raises(ValueError, match=f"^the column 'c' {line}"):
        learned.transform(table(now))


@pytest.mark.parametrize("empty", [[None], ["n/a", None], [" "]])
@pytest.mark.parametrize("then", [[1.5, 2.5], DAY_FIRST, ["a", "b"]])
def test_an_empty_column_has_gaps(then, empty):
    learned = Features.fit(table(then))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not np.ptp(features_of(learned, table(empty)), axis=0).any()


SAID = {
    "some text": ([1.5, 2.5], ["1.5", "low"], "had numbers when .* and 'low' is none: 6 cells taken for missing"),
    "some no dates": (DAY_FIRST, ["03/04/2024", "soon"], "had dates when .* and 'soon' is none: 6 cells taken for"),
    "other categories": (["a", "b"], ["x", "y"], "none of the categories that it had .* such as 'a', but 'x': all of"),
    "1 for True": (["True", "False"], [1, 0], "none of the categories .* such as 'False', but '0': all of"),
    "1 for yes": (["yes", "no"], [1, 0], "none of the categories .* such as 'no', but '0': all of"),
    "7 for 007": (
        ["007", "123"],
        [7, 123],
        "has the category '7', which was not there .*, though '007' was: it is taken",
    ),
    "all of 007": (["007", "008"], [7, 8], "none of the categories that it had .* such as '007', but '7'"),
    "1.0 for 1": (["1", "x"], ["1.0", "x"], "has the category '1.0', .* though '1' was"),
}


@pytest.mark.parametrize("name", SAID)
def test_what_cannot_be_read_is_said_in_a_line(name):
    then, now, line = SAID[name]
    x, told = said(Features.fit(table(then)), table(now))
    assert re.search(line, told), told
    assert np.isfinite(x).all()


def test_decimal_commas_are_read_in_a_later_table_too(tmp_path):
    """Beside semicolons, and among cells that are no numbers."""
    learned = Features.fit(table([1.5, 2.5]))
    plain = features_of(learned, table([1.5, 2.5]))
    np.testing.assert_array_equal(features_of(learned, table(["1,5", "2,5"], tmp_path / "a.csv", ";")), plain)
    x, _ = said(learned, table(["1,5", "low"], tmp_path / "b.csv", ";"))
    np.testing.assert_array_equal(x[::2], plain[::2])


def test_commas_of_thousands_are_no_decimal_ones(tmp_path):
    learned = Features.fit(table([1500, 2500]))
    x, line = said(learned, table(["1500", "1,234,567", "234,567"], tmp_path / "a.csv", ";"))
    assert "'1,234,567' is none: 8 cells taken for missing" in line
    assert (x[1::3] == x[2::3]).all()


def test_counts_below_0_are_counted_downwards():
    learned = Features.fit(table([0, 0, 0, 8]))
    assert type(learned.blocks[0].learned).__name__ == "Counts"
    assert features_of(learned, table([-4, 0, 4])).ravel()[:3].tolist() == [-0.5, 0, 0.5]


def test_nodes_without_a_row_have_nothing(tmp_path):
    learned = Features.fit(table(DAY_FIRST))
    edges = pd.DataFrame({"source": ["a", "b"], "target": ["b", "c"]})
    with pytest.warns(UserWarning, match="'c' is no node of the other table"):
        graph = read(edges, pd.DataFrame({"id": ["a", "b"], "c": ["04/04/2024", "05/06/2023"]}))
    x = features_of(learned, graph)
    assert np.isfinite(x).all()
    assert len(np.unique(x[:, 0])) == 3
    np.testing.assert_array_equal(learned.transform(graph, [2, 0]), x[[2, 0]])


def test_any_column_beside_any_other(tmp_path):
    """Features are finite, or one line says why there are none."""
    columns = [[now[0], *now] for _, now, *_ in (*SAME.values(), *NONE.values(), *SAID.values())]
    graphs = [table(cells) for cells in columns] + [table(["1,5", "x"], tmp_path / "a.csv", ";")]
    refused = []
    for then in graphs[::3]:
        learned = Features.fit(then)
        for now in graphs:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    assert np.isfinite(features_of(learned, now)).all()
                except ValueError as error:
                    refused.append(str(error))
    assert [each for each in refused if not re.fullmatch(r"the column 'c' ha[ds] .*: write them .*", each)] == []
    assert 0 < len(refused) < len(graphs[::3]) * len(graphs) / 2
