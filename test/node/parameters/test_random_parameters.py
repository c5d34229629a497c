# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Whatever is set, it is rejected with a sentence or taken, and the control goes on."""

from collections import Counter
from collections.abc import Iterator
import contextlib
from typing import Any

from hypothesis import HealthCheck, given, settings
import pytest

from support.ros.ros_process import NO_ROS

pytest.importorskip('rclpy', reason=NO_ROS)

from rcl_interfaces.srv import SetParameters
from rclpy.lifecycle import TransitionCallbackReturn

from rnea_ros.node.parameters import PARAMETERS
from support.fuzz.random_parameters import requests
from support.ros.virtual_node import VirtualRig, virtual_node

BEGINNING: dict[str, Any] = {
    'hardware_compensates': ['none'], 'hold_duration': 0.1, 'ramp_duration': 0.1, 'rate': 100.0,
    'effort_rate_limit': [0.0], 'effort_limits': [0.0],
}
SENTENCE = 500
"""No answer is longer, characters."""

SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]


@pytest.fixture(scope='module')
def rig() -> Iterator[VirtualRig]:
    with virtual_node() as rig:
        yield rig.activate()


def is_answer(result: Any, changes: list[Any]) -> bool:
    """Whether parameters were taken, or rejected with a sentence that names a parameter."""
    if result.successful:
        return True
    names = [change.name[:50] for change in changes] + [*PARAMETERS, 'URDF']
    named = any(name in result.reason for name in names)
    return named and 10 < len(result.reason) <= SENTENCE


def test_random_parameters_never_end_the_control(rig: VirtualRig) -> None:
    taken: Counter[bool] = Counter()

    @settings(max_examples=200, suppress_health_check=SLOW)
    @given(requests())
    def set_one(changes: list[Any]) -> None:
        result = rig.node.set_parameters_atomically(changes)
        assert is_answer(result, changes), (changes, result)
        taken[result.successful] += 1
        if result.successful:
            rig.run()
        assert rig.state in ('active', 'degraded'), changes

    set_one()
    assert min(taken.values()) > 40, taken
    rig.run(1.0)
    faults = ('output_not_finite', 'internal_error', 'tick_blocked')
    assert not any(word in key for key in rig.diagnostics for word in faults)


def test_random_requests_are_all_answered_one_by_one(rig: VirtualRig) -> None:
    number = 0

    @settings(max_examples=40, suppress_health_check=SLOW)
    @given(requests())
    def request_one(changes: list[Any]) -> None:
        nonlocal number
        messages = []
        for change in changes:
            with contextlib.suppress(AssertionError):  # rclpy sends no such value
                messages.append(change.to_parameter_msg())
        number += 1
        if messages and number % 10 == 0:
            messages[0].value.type = 200  # none of ROS's
        request = SetParameters.Request(parameters=messages)
        answer = rig.services['/feedforward/set_parameters']
        results = answer(request, SetParameters.Response()).results
        assert len(results) == len(messages)
        for message, result in zip(messages, results, strict=True):
            assert result.successful or 10 < len(result.reason) <= SENTENCE, message.name
            assert not (result.successful and message.value.type == 200)

    request_one()


def test_random_parameters_of_an_inactive_node_end_no_later_life(rig: VirtualRig) -> None:
    rig.node.trigger_deactivate()
    taken: Counter[bool] = Counter()
    lives: Counter[str] = Counter()

    @settings(max_examples=150, suppress_health_check=SLOW)
    @given(requests())
    def set_one(changes: list[Any]) -> None:
        result = rig.node.set_parameters_atomically(changes)
        assert is_answer(result, changes), (changes, result)
        taken[result.successful] += 1
        if sum(taken.values()) % 25:
            return
        # With what was taken, but for what would let the control wait, or not begin.
        for name, value in BEGINNING.items():
            assert rig.change(**{name: value}).successful
        began = rig.node.trigger_activate()
        lives[began.name] += 1
        if began is TransitionCallbackReturn.SUCCESS:
            rig.run(0.3)
            rig.node.trigger_deactivate()
        assert began is not TransitionCallbackReturn.ERROR

    set_one()
    assert min(taken.values()) > 40, taken
    assert lives['SUCCESS'] > 1, lives
