"""Path-integral graph convolution: a node averages over every path that reaches it, weighted by the path's length."""

from panconv.data import load as load
from panconv.graph import Adjacency as Adjacency
from panconv.met import MET as MET
from panconv.met import METHODS as METHODS
from panconv.models import PAN as PAN
from panconv.nn import PANConv as PANConv
from panconv.paths import Walks as Walks
from panconv.train import fit as fit
from panconv.weights import Boltzmann as Boltzmann
from panconv.weights import Fixed as Fixed
from panconv.weights import Free as Free
from panconv.weights import PowerLaw as PowerLaw
