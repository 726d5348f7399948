"""How tool calls are written, read from turns that make them; one module for each construct."""
