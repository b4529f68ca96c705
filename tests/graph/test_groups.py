import pytest
import torch
from graphs import TRIANGLE_AND_TAIL
from hypothesis import given
from hypothesis import strategies as st

from panconv import Adjacency
from panconv.graph.groups import Grouped, check_apart, checked_groups

CPU = torch.device("cpu")


@given(st.lists(st.integers(0, 6), max_size=20))
def test_each_knows_its_place(group):
    found = Grouped.of(torch.tensor(group, dtype=torch.long))
    assert found.place.tolist() == [group[:i].count(g) for i, g in enumerate(group)]
    assert found.size.tolist() == [group.count(g) for g in range(max(group, default=-1) + 1)]
    assert found.order.tolist() == sorted(range(len(group)), key=lambda i: (group[i], i))
    for i, g in enumerate(group):
        assert found.order[found.first[g] + found.place[i]] == i


def test_groups_as_they_are_given():
    assert checked_groups(None, 3, CPU).tolist() == [0, 0, 0]
    for dtype in (torch.long, torch.int32, torch.uint8):
        found = checked_groups(torch.tensor([0, 2, 2], dtype=dtype), 3, CPU)
        assert found.dtype == torch.long
        assert found.tolist() == [0, 2, 2]
    assert checked_groups(torch.tensor([7, 10**15, 7]), 3, CPU).tolist() == [0, 1, 0]  # and no memory of 10¹⁵ counts
    assert checked_groups(torch.empty(0, dtype=torch.long), 0, CPU).numel() == 0


def test_bad_groups():
    for batch, message in (([0, 0], "a tensor of integers.*got list"), (torch.zeros(2), "got torch.float32")):
        with pytest.raises(TypeError, match=f"batch must be {message}|{message}"):
            checked_groups(batch, 2, CPU)
    for batch in (torch.zeros(3, dtype=torch.long), torch.zeros(2, 1, dtype=torch.long)):
        with pytest.raises(ValueError, match=r"batch must have shape \(2,\), a number per node, got"):
            checked_groups(batch, 2, CPU)
    with pytest.raises(ValueError, match="groups must number the graphs from 0, got -1"):
        checked_groups(torch.tensor([0, -1]), 2, CPU, "groups")
    with pytest.raises(ValueError, match="batch is on the meta device"):
        checked_groups(torch.zeros(2, dtype=torch.long, device="meta"), 2, CPU)


def test_groups_that_an_edge_joins():
    for graph in (Adjacency.from_edge_index(TRIANGLE_AND_TAIL), TRIANGLE_AND_TAIL, TRIANGLE_AND_TAIL.int()):
        check_apart(graph, torch.zeros(4, dtype=torch.long))
        with pytest.raises(
            ValueError, match=r"batch puts nodes . and . into graphs . and ., but an edge joins"
        ) as error:
            check_apart(graph, torch.tensor([1, 1, 1, 5]))
        assert "nodes 3 and 2 into graphs 5 and 1" in str(error.value) or "nodes 2 and 3 into" in str(error.value)


def test_nothing_is_looked_at_while_tracing():
    def doubled(group):
        check_apart(TRIANGLE_AND_TAIL, group)
        return 2 * group

    assert torch.vmap(doubled)(torch.arange(4).expand(3, 4)).shape == (3, 4)
    assert torch.compile(doubled, backend="eager", fullgraph=True)(torch.arange(4)).tolist() == [0, 2, 4, 6]
