"""Events as the UI message stream of the AI SDK, for pages built on ``useChat``."""

from streamparse.adapters.ai_sdk.chunks import HEADERS, UIMessageChunks

__all__ = ["HEADERS", "UIMessageChunks"]
