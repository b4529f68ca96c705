"""Point patterns: three random processes of one density as three classes of graphs, and what tells them apart."""

from panconv.data.points.patterns import PointPatterns as PointPatterns
from panconv.data.points.patterns import point_patterns as point_patterns
from panconv.data.points.statistics import nearest_distances as nearest_distances
from panconv.data.points.statistics import pair_correlation as pair_correlation
