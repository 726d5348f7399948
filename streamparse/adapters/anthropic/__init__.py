"""Events as the stream of Anthropic's Messages API, for clients that read that."""

from streamparse.adapters.anthropic.messages import MessageEvents, whole_message

__all__ = ["MessageEvents", "whole_message"]
