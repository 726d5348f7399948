"""What is known of a structured region's text while it is being written: the readers behind ``streamparse.formats``."""

from streamparse.formats.reader import Reader as Structure

__all__ = ["Structure"]
