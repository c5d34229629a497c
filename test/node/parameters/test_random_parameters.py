# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Whatever is set, it is rejected with a sentence or taken, and the control goes on."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from hypothesis import HealthCheck, given, settings
import pytest

from support.ros.ros_process import NO_ROS

pytest.importorskip('rclpy', reason=NO_ROS)

from rclpy.lifecycle import TransitionCallbackReturn

from rnea_ros.feedforward.settings import PARAMETERS
from support.fuzz.random_parameters import requests
from support.ros.virtual_node import VirtualRig, virtual_node

BEGINNING: dict[str, Any] = {
    'hardware_compensates': ['none'], 'hold_duration': 0.1, 'ramp_duration': 0.1, 'rate': 100.0,
    'effort_rate_limit': [0.0], 'effort_limits': [0.0],
}
SENTENCE = range(11, 501)
"""How long an answer is, characters."""

SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]


@pytest.fixture(scope='module')
def rig() -> Iterator[VirtualRig]:
    with virtual_node() as rig:
        yield rig.wait_until_controlled()


def is_taken(rig: VirtualRig, changes: list[Any]) -> bool:
    """Set parameters; those that are rejected are so with a sentence that names a parameter."""
    result = rig.node.set_parameters_atomically(changes)
    if not result.successful:
        names = [change.name[:50] for change in changes] + [*PARAMETERS, 'URDF']
        assert any(name in result.reason for name in names), (changes, result)
        assert len(result.reason) in SENTENCE, (changes, result)
    return bool(result.successful)


def test_random_parameters_never_end_the_control(rig: VirtualRig) -> None:
    taken: Counter[bool] = Counter()

    @settings(max_examples=200, suppress_health_check=SLOW)
    @given(requests())
    def set_one(changes: list[Any]) -> None:
        success = is_taken(rig, changes)
        taken[success] += 1
        if success:
            rig.run()
        assert rig.state in ('active', 'degraded'), changes

    set_one()
    assert min(taken.values()) > 30, taken
    rig.run(1.0)
    faults = ('output_not_finite', 'internal_error', 'tick_blocked')
    assert not any(word in key for key in rig.diagnostics for word in faults)


def test_random_parameters_of_an_inactive_node_end_no_later_life(rig: VirtualRig) -> None:
    rig.node.trigger_deactivate()
    taken: Counter[bool] = Counter()
    lives: Counter[TransitionCallbackReturn] = Counter()

    @settings(max_examples=150, suppress_health_check=SLOW)
    @given(requests())
    def set_one(changes: list[Any]) -> None:
        taken[is_taken(rig, changes)] += 1
        if taken.total() % 25:
            return
        # With what was taken, but for what would let the control wait, or not begin.
        for name, value in BEGINNING.items():
            assert rig.change(**{name: value}).successful
        began = rig.node.trigger_activate()
        lives[began] += 1
        if began is TransitionCallbackReturn.SUCCESS:
            rig.run(0.3)
            rig.node.trigger_deactivate()
        assert began is not TransitionCallbackReturn.ERROR

    set_one()
    assert min(taken.values()) > 20, taken
    assert lives[TransitionCallbackReturn.SUCCESS] > 1, lives
