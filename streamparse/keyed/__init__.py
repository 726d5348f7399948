"""The keyed operator: many generations at once, one parser for each key; and what feeds it from sources."""

from streamparse.keyed.life_cycle import Open
from streamparse.keyed.operator import KeyedParser
from streamparse.keyed.pump import pump
from streamparse.keyed.readers import Readers
from streamparse.keyed.stage import KeyedStage
from streamparse.keyed.statistics import KeyedStatistics

__all__ = ["KeyedParser", "KeyedStage", "KeyedStatistics", "Open", "Readers", "pump"]
