"""M straight from the paper's equations, dense and exact, without a line of the rest of the package: its definition.

    M = Z^−a · Σₙ wₙ · D_n^−b · G(n) · D_n^−b' · Z^−a'        (eqs. 6, 7, 10 and the seven methods of the appendix)

>>> import numpy as np
>>> edges = np.array([[0, 1, 1, 2], [1, 0, 2, 1]])  # a path of three nodes
>>> problem = Problem(edges, None, None, 3, "one", "walks", None, 1, 2, "fixed", np.ones(2), quantity="to_sparse")
>>> answer(problem).value.astype(float).round(4).tolist()
[[0.5, 0.4082, 0.0], [0.4082, 0.3333, 0.4082], [0.0, 0.4082, 0.5]]
"""

from panconv.met.reference.answer import Answer, answer
from panconv.met.reference.problem import Problem

__all__ = ["Answer", "Problem", "answer"]
