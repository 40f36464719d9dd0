"""Training on one machine from ratings on disk: memory grows with users and items only."""

from midpoint.analyst.engines.streaming.engine import StreamingEngine
from midpoint.analyst.engines.streaming.factorizer import fit_from_disk
from midpoint.analyst.engines.streaming.scan import Scan, scan
from midpoint.analyst.engines.streaming.statistics import tally_scan

__all__ = ["Scan", "StreamingEngine", "fit_from_disk", "scan", "tally_scan"]
