"""What random walks are used for: predicting links, finding communities."""

from panconv.tasks.communities import communities, modularity, nmi
from panconv.tasks.link_prediction import auc, link_scores
from panconv.tasks.link_splits import split_links

__all__ = ["auc", "communities", "link_scores", "modularity", "nmi", "split_links"]
