"""One process of the protocols' packages for all tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.adapters.protocols.official import Clients, official_clients
from tests.adapters.protocols.validators import Validators, validators


@pytest.fixture(scope="session")
def packages() -> Iterator[Validators]:
    with validators() as process:
        yield process


@pytest.fixture(scope="session")
def clients() -> Iterator[Clients]:
    with official_clients() as both:
        yield both
