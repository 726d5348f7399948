"""Structure readers: what is known of a structured region's text while it is being written.

In comes the text of a region, in any pieces; ``STRUCTURES`` has a reader for each content parser of structured text.
"""

from streamparse.stages.structure.protocol import MakeStructure, Structure
from streamparse.stages.structure.table import STRUCTURES

__all__ = ["STRUCTURES", "MakeStructure", "Structure"]
