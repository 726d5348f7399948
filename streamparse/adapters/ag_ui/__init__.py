"""Events as those of the Agent User Interaction Protocol (AG-UI), for front ends that speak it."""

from streamparse.adapters.ag_ui.run import RunEvents

__all__ = ["RunEvents"]
