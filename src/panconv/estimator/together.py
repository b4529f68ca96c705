"""What an ensemble loses less than its members do: known without labels, since it does not depend on the truth.

The mean of the members' log probabilities is that of the ensemble but for what it takes for these to add up to 1, the
same for each class. With squares it is the variance of what the members say (Krogh and Vedelsby, 1995).
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor


def gain_of_seeds(scores: Tensor, loss: str, unit: Tensor | None = None) -> Tensor:
    """By how much the loss of the mean scores is below the mean loss of the seeds, row by row, (m,); never negative.

    Args:
        scores: (m, S, C), of each seed.
        loss: "softmax", "logistic", added over the columns, or "squared", their mean.
        unit: (C,), of squares; None for 1.
    """
    if loss == "squared":
        spread = scores.var(1, correction=0)
        return (spread if unit is None else spread / unit).mean(1)
    if loss == "softmax":
        return -scores.log_softmax(2).mean(1).logsumexp(1)
    yes, no = F.logsigmoid(scores).mean(1), F.logsigmoid(-scores).mean(1)
    return -torch.logaddexp(yes, no).sum(1)
