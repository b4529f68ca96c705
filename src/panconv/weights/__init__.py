"""Where the weight wₙ of a path of length n comes from, and how it is written down."""

from panconv.weights.kinds import Boltzmann as Boltzmann
from panconv.weights.kinds import Fixed as Fixed
from panconv.weights.kinds import Free as Free
from panconv.weights.naming import in_words as in_words
from panconv.weights.naming import layer_specs as layer_specs
from panconv.weights.naming import plain_spec as plain_spec
from panconv.weights.naming import trial_spec as trial_spec
from panconv.weights.naming import weights_from as weights_from
from panconv.weights.path_weights import LOG_2 as LOG_2
from panconv.weights.path_weights import MOST as MOST
from panconv.weights.path_weights import Exponential as Exponential
from panconv.weights.path_weights import PathWeights as PathWeights
from panconv.weights.power_law import PowerLaw as PowerLaw
from panconv.weights.power_law import trains_alpha as trains_alpha
