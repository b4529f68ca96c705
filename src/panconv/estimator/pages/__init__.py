"""Pages of HTML to look at: an explanation, and what was fitted. Each is one file that needs nothing beside it."""

from panconv.estimator.pages.explanation_page import explanation_page as explanation_page

__all__ = ["explanation_page"]
