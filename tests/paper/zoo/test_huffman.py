import heapq

import pytest
import torch

from panconv.paper.zoo.huffman import huffman


def cost(counts):
    """Σ count · length of the best code, by the textbook's queue."""
    queue, total = list(counts), 0
    heapq.heapify(queue)
    while len(queue) > 1:
        joined = heapq.heappop(queue) + heapq.heappop(queue)
        total += joined
        heapq.heappush(queue, joined)
    return total


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("N", [2, 3, 7, 200])
def test_no_code_is_shorter(N, seed):
    spread = torch.rand(N, generator=torch.Generator().manual_seed(seed)) * 3 * seed
    count = spread.exp().long() + 1
    way, turn = huffman(count)
    assert int((count * turn.abs().sum(1)).sum()) == cost(count.tolist())
    assert bool(((way >= 0) & (way < N - 1)).all())


def test_no_code_is_the_start_of_another():
    way, turn = huffman(torch.tensor([1, 1, 2, 3, 5, 8, 13, 21]))
    assert turn.abs().sum(1).tolist() == [7, 7, 6, 5, 4, 3, 2, 1]
    # With any vectors of the inner nodes, the leaves share a probability of 1.
    score = torch.randn(7, generator=torch.Generator().manual_seed(0))
    probability = torch.where(turn != 0, (turn * score[way]).sigmoid(), 1.0).prod(1)
    torch.testing.assert_close(probability.sum(), torch.tensor(1.0))
