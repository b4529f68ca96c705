"""Results in, one HTML page out. Never imports torch."""

from panconv.paper.report.page import write_report as write_report
