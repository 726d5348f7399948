"""``streamparse demo --web``: a page on this machine that shows generations while they are written.

In:  recordings that ship with the package, and raw outputs that are pasted into the page.
Out: a server on 127.0.0.1 with the page and, over websockets, the events of every generation.

=================  ==================================================================================
``cutting``        a whole text in pieces, about as a tokenizer would cut it
``inputs``         what is parsed: a recording, or what was pasted, checked
``saved``          an input as a file, with its events; and back
``live``           a model that answers questions, where there is one
``pace``           how fast: one pace for all generations, with pause and single steps
``generation``     one input on its way through the parser, its raw pieces beside its events
``show``           the generations that are on
``control``        what a page may ask for
``pages``          the files of the page over HTTP, with the headers that keep it to itself
``server``         the socket that listens, its routes, and how it stops
``static/``        the page: HTML, style sheets, small ES modules
=================  ==================================================================================

It needs the extra ``web``.
"""

try:
    from streamparse.adapters.web.inputs import Input, RequestError, recorded
    from streamparse.adapters.web.live import Model, installed_model
    from streamparse.adapters.web.pace import Pace
    from streamparse.adapters.web.server import Page, serve_page
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        f"{error.name} is missing: install the extra, pip install 'streamparse-llm[web]'", name=error.name
    ) from error

__all__ = ["Input", "Model", "Pace", "Page", "RequestError", "installed_model", "recorded", "serve_page"]
