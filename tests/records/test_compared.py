"""What a row of a table says of its figures."""

from dataclasses import dataclass

import pytest

from panconv.records.compared import Compared


@dataclass(frozen=True)
class Row(Compared):
    mean: float = 81.24
    std: float = 0.66
    seconds: float = 3.14159
    changes: tuple = ()
    count: int = 10


def test_a_figure_has_a_spread_where_it_is_of_several():
    assert Row().figure == "81.2 ± 0.7"
    assert Row(count=1).figure == "81.2"


@pytest.mark.parametrize(("seconds", "said"), [(0.0123, "0.012"), (3.14159, "3.1"), (9.4, "9.4"), (123.4, "123")])
def test_seconds(seconds, said):
    assert Row(seconds=seconds).time == said


def test_a_change_has_an_interval_where_it_is_of_several():
    assert (Row().change, Row().difference) == (None, "")
    assert Row(changes=(0.5,)).difference == "+0.5"
    assert Row(changes=(1.0, 2.0, 3.0)).change.mean == 2.0
    assert Row(changes=(1.0, 2.0, 3.0)).difference == str(Row(changes=(1.0, 2.0, 3.0)).change)
