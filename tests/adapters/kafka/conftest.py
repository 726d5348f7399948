"""A broker for these tests, and topics of each test's own."""

from __future__ import annotations

import importlib.util
import uuid
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("confluent_kafka", reason="the extra kafka is not installed")

_spec = importlib.util.spec_from_file_location("kafka_test_brokers", Path(__file__).with_name("brokers.py"))
assert _spec is not None
assert _spec.loader is not None
brokers = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(brokers)


@pytest.fixture(scope="session")
def any_broker() -> Any:
    found = brokers.broker_here()
    if isinstance(found, str):
        pytest.skip(f"there is no broker: {found}")
    return found


@pytest.fixture
def bootstrap(any_broker: Any, request: pytest.FixtureRequest) -> str:
    """The address of the broker; skips a test that needs what this one hasn't got."""
    for mark in request.node.iter_markers("needs"):
        for what in mark.args:
            if what not in any_broker.has:
                pytest.skip(f"{any_broker.what} has no {what} as Apache Kafka has")
    return str(any_broker.bootstrap)


@pytest.fixture
def name() -> str:
    """A name for topics and groups that nothing else has."""
    return f"t-{uuid.uuid4().hex[:12]}"
