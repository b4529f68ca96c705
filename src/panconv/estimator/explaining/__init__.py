"""Why a score is what it is: taken apart exactly, over path lengths, end nodes, single paths and features."""

from panconv.estimator.explaining.deep import explain_model as explain_model
from panconv.estimator.explaining.edges import edge_parts as edge_parts
from panconv.estimator.explaining.explanation import Explanation as Explanation
from panconv.estimator.explaining.explanation import Part as Part
from panconv.estimator.explaining.explanation import PathPart as PathPart

__all__ = ["Explanation", "Part", "PathPart", "edge_parts", "explain_model"]
