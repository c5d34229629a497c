# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Whatever is set, it is rejected with a sentence or taken, and the control goes on."""

import contextlib
from typing import Any

import numpy as np
import pytest

from support.ros.fake_robot import PATIENT, PERIOD, FakeRobot, node
from support.ros.node_in_process import NodeInProcess, node_in_process
from support.ros.ros_process import NO_ROS

pytest.importorskip('rclpy', reason=NO_ROS)

from rcl_interfaces.srv import SetParameters
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.parameter import Parameter

from rnea_ros.node.parameters import PARAMETERS
from support.fuzz.random_parameters import RandomParameters

pytestmark = pytest.mark.ros

BEGINNING: tuple[tuple[str, Any], ...] = (
    ('hardware_compensates', ['none']), ('hold_duration', 0.1), ('ramp_duration', 0.1),
    ('rate', 200.0), ('effort_rate_limit', [0.0]), ('effort_limits', [0.0]),
)  # fmt: skip

SENTENCE = 500
"""No answer is longer, characters."""


def is_answer(result: Any, changes: list[Parameter]) -> bool:
    """Whether parameters were taken, or rejected with a sentence that names a parameter."""
    if result.successful:
        return True
    names = [change.name[:50] for change in changes] + [*PARAMETERS, 'URDF']
    named = any(name in result.reason for name in names)
    return named and 10 < len(result.reason) <= SENTENCE


def assert_in_control(robot: FakeRobot, runner: NodeInProcess) -> None:
    robot.diagnostics.clear()
    assert runner.wait_until(lambda: 'state' in robot.diagnostics)
    assert robot.controlled, robot.diagnostics
    faults = ('output_not_finite', 'internal_error', 'tick_blocked')
    assert not any(word in key for key in robot.diagnostics for word in faults)


def test_random_parameters_never_end_the_control(robot: FakeRobot, domain_id: int) -> None:
    parameters = RandomParameters(13)
    taken = {'active': 0, 'inactive': 0}
    with node_in_process(domain_id, PATIENT) as runner:
        control = runner.node
        assert runner.wait_until(lambda: robot.controlled)
        for _ in range(2000):
            changes = parameters.draw()
            result = control.set_parameters_atomically(changes)
            assert is_answer(result, changes), (changes, result)
            taken['active'] += result.successful
            runner.spin(PERIOD if result.successful else 0.0)
        assert_in_control(robot, runner)
        control.trigger_deactivate()
        for number in range(2000):
            changes = parameters.draw()
            result = control.set_parameters_atomically(changes)
            assert is_answer(result, changes), (changes, result)
            taken['inactive'] += result.successful
            if number % 250 == 249:
                # With what was taken, but for what would let the test wait, or not begin.
                for name, value in BEGINNING:
                    result = control.set_parameters_atomically([Parameter(name, value=value)])
                    assert result.successful, result.reason
                began = control.trigger_activate()
                if began is TransitionCallbackReturn.SUCCESS:
                    runner.spin(0.2)
                    control.trigger_deactivate()
                elif began is TransitionCallbackReturn.ERROR:  # it is unconfigured then
                    control.trigger_configure()
        assert min(taken.values()) > 120, taken
    for sequence in (robot.commands, robot.efforts):
        assert all(np.isfinite(effort).all() for _, effort in sequence)


def test_random_parameters_over_dds_are_all_answered(robot: FakeRobot, domain_id: int) -> None:
    parameters = RandomParameters(14)
    with node(domain_id) as process:
        robot.wait_until_controlled()
        for number in range(300):
            changes = parameters.draw()
            messages = []
            for change in changes:
                with contextlib.suppress(AssertionError):  # rclpy sends no such value
                    messages.append(change.to_parameter_msg())
            request = SetParameters.Request(parameters=messages)
            if messages and number % 10 == 0:
                messages[0].value.type = 200  # none of ROS's
            response = robot.call(SetParameters, 'feedforward/set_parameters', request)
            assert len(response.results) == len(messages)
            for message, result in zip(messages, response.results, strict=True):
                assert result.successful or 10 < len(result.reason) <= SENTENCE, message.name
        robot.wait_until_controlled()
        assert 'Traceback' not in process.output
        robot.assert_safe()
