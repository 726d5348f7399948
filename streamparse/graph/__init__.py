"""The graph: stages between a source and a sink, and the channels between those that run at their own pace."""

from streamparse.graph.chain import StageStatistics
from streamparse.graph.channel import CAPACITY, Channel, ChannelStatistics
from streamparse.graph.concurrent import Concurrent
from streamparse.graph.graph import Graph, GraphStatistics
from streamparse.graph.source import End, Source, SourceReader
from streamparse.graph.stage import AsyncStage, Machine, Stage

__all__ = [
    "CAPACITY",
    "AsyncStage",
    "Channel",
    "ChannelStatistics",
    "Concurrent",
    "End",
    "Graph",
    "GraphStatistics",
    "Machine",
    "Source",
    "SourceReader",
    "Stage",
    "StageStatistics",
]
