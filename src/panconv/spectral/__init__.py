"""What the eigenstates of a graph's operators tell: Perron vectors, Lanczos, leading eigenpairs, the whole spectrum."""

from panconv.spectral.perron import Perron as Perron
from panconv.spectral.perron import perron as perron
