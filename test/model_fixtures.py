# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Robots that every rule of the model is tried on; a test module names this as its plugin."""

from __future__ import annotations

from oracles import random_tree
import pytest
from robots import SHIPPED, load

from rnea_ros import RobotModel

SOURCES = {
    **{path.stem: path.read_text(encoding='utf-8') for path in SHIPPED},
    # Branches, slides, mimic joints, links without inertia, fixed links in between.
    **{f'random_{seed}': random_tree(seed) for seed in (3, 19, 53)},
}


@pytest.fixture(params=SOURCES)
def urdf(request: pytest.FixtureRequest) -> str:
    return SOURCES[request.param]


@pytest.fixture
def model(urdf: str) -> RobotModel:
    return load(urdf)


@pytest.fixture
def panda() -> RobotModel:
    return load(SHIPPED[0])
