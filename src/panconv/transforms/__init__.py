"""PyG transforms: M as the edges of a graph, and graphs prepared ahead, such as in the workers of a loader."""

from panconv.transforms.met import Dropped, METTransform
from panconv.transforms.prepare import PreparedData, PrepareGraph

__all__ = ["Dropped", "METTransform", "PrepareGraph", "PreparedData"]
