# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Robots that every rule of the model is tried on; a test module names this as its plugin."""

import pytest

from rnea_ros import RobotModel
from support.models.oracle_pairs import PAIRS, SOURCES, Pair
from support.models.robots import SHIPPED, load


@pytest.fixture(params=PAIRS)
def pair(request: pytest.FixtureRequest) -> Pair:
    return PAIRS[request.param]


@pytest.fixture(params=[label for label in PAIRS if not PAIRS[label].floating])
def fixed_pair(request: pytest.FixtureRequest) -> Pair:
    return PAIRS[request.param]


@pytest.fixture(params=SOURCES)
def urdf(request: pytest.FixtureRequest) -> str:
    return SOURCES[request.param]


@pytest.fixture
def model(urdf: str) -> RobotModel:
    return load(urdf)


@pytest.fixture
def panda() -> RobotModel:
    return load(SHIPPED[0])
