"""A graph whose classes are planted, for estimators to find."""

import numpy as np
import scipy.sparse as sp


def planted(N=240, C=3, F=8, p_in=0.08, p_out=0.01, seed=0, signal=0.5):
    """A planted partition with weak features, and the labels of a quarter."""
    random = np.random.default_rng(seed)
    truth = random.permutation(np.arange(N) % C)
    P = np.where(truth[:, None] == truth, p_in, p_out)
    A = np.triu(random.random((N, N)) < P, 1)
    X = random.normal(size=(N, F)) + signal * random.normal(size=(C, F))[truth]
    y = np.where(random.random(N) < 0.25, truth, -1)
    return sp.csr_matrix((A | A.T).astype(float)), X, y, truth
