"""Frames whose columns are of several kinds."""

import numpy as np
import pandas as pd
import pytest

from panconv import read


def test_ids_of_numbers_and_texts_are_compared_as_texts():
    edges = pd.DataFrame({"source": [1, "a", 2.0, np.int64(3)], "target": ["a", 2, 1, 1]})
    nodes = pd.DataFrame({"id": [1, 2, 3, "a"], "x": [0.5, None, "many", 2]})
    graph = read(edges, nodes)
    assert graph.ids.tolist() == ["1", "2", "3", "a"]
    assert graph.num_edges == 4
    assert edges["source"].tolist() == [1, "a", 2.0, 3]  # the frame is as it was


def test_what_no_table_has_is_refused():
    with pytest.raises(ValueError, match=r"edges has a column that no table has: .*source"):
        read(pd.DataFrame({"source": [object(), 1], "target": [1, 2]}))
    with pytest.raises(ValueError, match=r"the frame edges, column 'target' holds list<.*>, which is no text"):
        read(pd.DataFrame({"source": [1, 2], "target": [[1], [2]]}))
