"""The server: who gets what, and that it is gone when it is left."""

from __future__ import annotations

import json
import socket
import threading
from contextlib import ExitStack
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import ClientConnection, connect

from streamparse.adapters.web import recorded
from streamparse.adapters.web.pages import files
from streamparse.adapters.websockets import fold, new_state
from tests.adapters.web.conftest import Served, served
from tests.adapters.web.inputs import text_input

PARSE: dict[str, Any] = {"action": "parse", "request": {"text": "a", "template": {"name": "qwen3"}}}


def get(page: Served, path: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
    connection = HTTPConnection(urlsplit(page.url).netloc, timeout=30)
    connection.request("GET", path, headers=headers)
    response = connection.getresponse()
    answer = response.status, {name.lower(): value for name, value in response.getheaders()}, response.read()
    connection.close()
    return answer


def open_socket(page: Served, path: str, **options: Any) -> ClientConnection:
    address = page.url.replace("http", "ws").rstrip("/") + path
    return connect(address, **{"origin": page.url.rstrip("/"), "proxy": None, **options})


def ask(control: ClientConnection, action: str, **fields: Any) -> dict[str, Any]:
    control.send(json.dumps({"number": 7, "action": action, **fields}))
    while True:
        message = json.loads(control.recv(timeout=60))
        if "state" not in message:
            return dict(message)


def state_where(control: ClientConnection, holds: Any) -> dict[str, Any]:
    while True:
        message = json.loads(control.recv(timeout=60))
        if "state" in message and holds(message["state"]):
            return dict(message["state"])


def test_it_listens_on_this_machine_only() -> None:
    with served([]) as page:
        addresses = {listener.getsockname()[0] for listener in page.page.sockets.sockets}
    assert addresses == {"127.0.0.1"}


def test_every_file_of_the_page_is_served_and_nothing_else() -> None:
    with served([]) as page:
        assert get(page, "/")[2] == files()["/index.html"].read_bytes()
        for path, file in files().items():
            status, headers, body = get(page, path)
            assert (status, body) == (200, file.read_bytes())
            assert headers["x-content-type-options"] == "nosniff"
        for path in ("/server.py", "/../server.py", "/static/index.html", "/js/", "/%2e%2e/server.py", "/js/none.js"):
            assert get(page, path)[0] == 404


def test_the_page_may_load_and_run_only_its_own_files() -> None:
    with served([]) as page:
        policy = get(page, "/")[1]["content-security-policy"]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["script-src"] == rules["style-src"] == "'self'"
    assert rules["require-trusted-types-for"] == "'script'"
    assert "unsafe" not in policy


def test_a_foreign_name_for_this_machine_gets_nothing() -> None:
    with served([]) as page:
        port = urlsplit(page.url).port
        for host in ("evil.example", f"evil.example:{port}", f"127.0.0.1.evil.example:{port}", "127.0.0.1"):
            status, _, body = get(page, "/", Host=host)
            assert status == 403
            assert b"<html" not in body
        assert get(page, "/", Host=f"localhost:{port}")[0] == 200


@pytest.mark.parametrize("path", ["/events", "/control"])
@pytest.mark.parametrize("origin", [None, "null", "http://evil.example", "http://127.0.0.1:1"])
def test_a_foreign_page_can_not_connect(path: str, origin: str | None) -> None:
    with served([]) as page, pytest.raises(InvalidStatus) as refused:
        open_socket(page, path, origin=origin)
    assert refused.value.response.status_code == 403


def test_a_client_can_not_start_generations_of_its_own() -> None:
    with served([]) as page, open_socket(page, "/events") as events:
        events.send(json.dumps({"type": "hello", "version": 1}))
        events.send(json.dumps({"type": "start", "generation": "mine", "parameters": {"text": "a"}}))
        answers = [json.loads(events.recv(timeout=60)) for _ in range(2)]
    assert answers[1]["type"] in ("error", "end")
    assert answers[1].get("reason") != "complete"


def test_the_pace_is_the_same_for_every_page() -> None:
    with served([]) as page, open_socket(page, "/control") as one, open_socket(page, "/control") as other:
        assert ask(one, "pause") == {"number": 7, "answer": None}
        assert state_where(other, lambda state: state["pace"]["paused"])["pace"]["rate"] == 2000
        ask(other, "rate", rate=60)
        state_where(one, lambda state: state["pace"] == {"rate": 60, "paused": True})
        ask(one, "go_on")
        state_where(other, lambda state: state["pace"] == {"rate": 60, "paused": False})


def test_what_is_pasted_is_put_on_first_and_can_be_taken_off() -> None:
    with served([text_input("old")]) as page, open_socket(page, "/control") as control:
        request = {"text": "Hi", "template": {"name": "qwen3"}, "title": "new"}
        key = ask(control, "parse", request=request)["answer"]["key"]
        assert [about["title"] for about in page.page.show.state()["generations"]] == ["new", "a text"]
        assert ask(control, "file", key=key)["answer"]["message"] == {"role": "assistant", "content": "Hi"}
        assert ask(control, "remove", key=key)["answer"] is None
        assert "not on any more" in ask(control, "file", key=key)["problem"]


def test_a_file_that_can_not_be_written_is_told() -> None:
    with served([]) as page, open_socket(page, "/control") as control:
        tools = [{"type": "function", "function": {"name": "f", "x": json.loads("[" * 900 + "]" * 900)}}]
        key = ask(control, "parse", request=PARSE["request"] | {"tools": json.dumps(tools)})["answer"]["key"]
        assert "can't be written as JSON" in ask(control, "file", key=key)["problem"]


@pytest.mark.parametrize(
    "request_",
    [
        *("", "[", "[]", "null", '{"action": "shutdown"}', '{"action": ["pause"]}', '{"action": "parse"}'),
        *('{"action": "rate", "rate": NaN}', '{"action": "rate", "rate": "fast"}', '{"action": "remove", "key": {}}'),
        *('{"action": %s}' % ("[" * 900 + "]" * 900), '{"action": "pause", "number": [1]}'),
        json.dumps(PARSE | {"request": PARSE["request"] | {"cut": "9" * 5000}}),
        *('{"action": "parse", "request": {"text": "a"}}', '{"action": "parse", "request": {"file": 3}}'),
    ],
)
def test_a_request_that_makes_no_sense_is_answered_with_what_is_wrong(request_: str) -> None:
    with served([]) as page, open_socket(page, "/control") as control:
        control.recv(timeout=60)
        control.send(request_)
        assert json.loads(control.recv(timeout=60))["problem"]
        assert ask(control, "pause")["answer"] is None


def test_there_are_only_so_many_generations_at_a_time() -> None:
    with served([text_input("a")] * 24) as page, open_socket(page, "/control") as control:
        problem = ask(control, "parse", request={"text": "a", "template": {"name": "qwen3"}})["problem"]
        assert "close one first" in problem


def follow(events: ClientConnection, key: str) -> None:
    events.send(json.dumps({"type": "hello", "version": 1}))
    events.send(json.dumps({"type": "subscribe", "generation": key}))


def state_at_the_end(events: ClientConnection) -> dict[str, Any]:
    state = new_state()
    while True:
        message = json.loads(events.recv(timeout=120))
        if message["type"] == "events":
            for event in message["events"]:
                fold(state, event)
        elif message["type"] == "end":
            assert message["reason"] == "complete"
            return dict(state)


def test_a_tab_that_reads_nothing_does_not_slow_the_others_and_misses_nothing() -> None:
    text = "".join(f"Line {number} of a long answer.\n" for number in range(60_000))
    made = text_input(text, size=20_000)
    with served([made]) as page:
        for listener in page.page.sockets.sockets:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        narrow = socket.socket()
        narrow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        narrow.connect(("127.0.0.1", urlsplit(page.url).port))
        with open_socket(page, "/events", sock=narrow, max_queue=1, max_size=None) as slow:
            follow(slow, "g1")
            with open_socket(page, "/events", max_size=None) as quick:
                follow(quick, "g1")
                seen = state_at_the_end(quick)
            generation = page.page.events.generation("g1")
            assert generation is not None
            assert any(consumer.behind for consumer in page.call(generation.statistics).consumers)
            assert state_at_the_end(slow) == seen
    assert seen["regions"][0]["text"] == text


def test_it_is_gone_when_it_is_left_even_while_pages_are_open() -> None:
    threads = {*threading.enumerate()}
    with ExitStack() as clients:
        with served([recorded("qwen3_5")], rate=1) as page:
            events = clients.enter_context(open_socket(page, "/events"))
            follow(events, "g1")
            control = clients.enter_context(open_socket(page, "/control"))
            control.recv(timeout=60)
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", urlsplit(page.url).port or 0), timeout=30)
    for thread in {*threading.enumerate()} - threads:
        thread.join(timeout=60)
        assert not thread.is_alive(), thread.name
