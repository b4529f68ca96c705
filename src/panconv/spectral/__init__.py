"""What the eigenstates of a graph's operators tell: Perron vectors, Lanczos, leading eigenpairs, the whole spectrum."""

from panconv.spectral.basis import Basis as Basis
from panconv.spectral.basis import basis as basis
from panconv.spectral.cutoff import Cutoff as Cutoff
from panconv.spectral.cutoff import cutoff as cutoff
from panconv.spectral.cutoff import sufficient_length as sufficient_length
from panconv.spectral.density import Density as Density
from panconv.spectral.density import density as density
from panconv.spectral.dirichlet import dirichlet_energy as dirichlet_energy
from panconv.spectral.eigs import Eigenpairs as Eigenpairs
from panconv.spectral.eigs import eigs as eigs
from panconv.spectral.filters import Modes as Modes
from panconv.spectral.filters import Response as Response
from panconv.spectral.filters import band_response as band_response
from panconv.spectral.filters import modes as modes
from panconv.spectral.filters import response as response
from panconv.spectral.high_temperature import HighTemperature as HighTemperature
from panconv.spectral.lanczos import Lanczos as Lanczos
from panconv.spectral.lanczos import lanczos as lanczos
from panconv.spectral.laplacian import Laplacian as Laplacian
from panconv.spectral.operator import Matrix as Matrix
from panconv.spectral.operator import Operator as Operator
from panconv.spectral.perron import Perron as Perron
from panconv.spectral.perron import log_perron as log_perron
from panconv.spectral.perron import perron as perron
from panconv.spectral.ritz import Ritz as Ritz
from panconv.spectral.ritz import ritz as ritz
