import pytest

from panconv.paper.published import TABLE2
from panconv.paper.zoo import METHODS
from panconv.paper.zoo.outside import OUTSIDE
from panconv.paper.zoo.settings import merged


def test_they_come_after_the_table_and_are_not_in_it():
    assert list(METHODS)[len(TABLE2) :] == list(OUTSIDE)
    assert not any(method.in_table2 for method in OUTSIDE.values())


@pytest.mark.parametrize("name", OUTSIDE)
def test_every_setting_may_be_set_to_what_it_is(name):
    method = OUTSIDE[name]
    assert merged(method.settings, method.settings) == method.settings
