"""What random walks are used for: predicting links, finding communities."""

from panconv.tasks.communities import communities, modularity, nmi
from panconv.tasks.link_prediction import auc, link_scores
from panconv.tasks.link_splits import split_links
from panconv.tasks.similar import similar
from panconv.tasks.top_links import top_links

__all__ = ["auc", "communities", "link_scores", "modularity", "nmi", "similar", "split_links", "top_links"]
