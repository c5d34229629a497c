# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A driver that takes and measures amperes, over DDS: only the command topic has its unit."""

from __future__ import annotations

import numpy as np
import pytest

from support.ros.fake_robot import GRAVITY, LIMITS, FakeRobot, node
from support.ros.ros_process import NO_ROS, wait_until

pytest.importorskip('rclpy', reason=NO_ROS)
pytestmark = pytest.mark.ros

SCALE = np.array([4.0, 4.0, -4.0, 2.5, 0.5, 0.5, -0.5])
"""N m per ampere of each joint, two of them with an inverted sign."""

UNLIMITED = '-p effort_rate_limit:=[1e6]'
"""A late tick must not bend the ramp: the rate limit counts from the last sending."""


def test_commands_are_amperes_and_all_else_is_newton_metres(
    robot: FakeRobot, domain_id: int
) -> None:
    start = GRAVITY + 1.0
    robot.message.effort = (start / SCALE).tolist()
    scales = {'effort_scale': SCALE, 'command_scale': 1.0 / SCALE}
    options = ' '.join(f'-p {name}:={values.tolist()}' for name, values in scales.items())
    with node(domain_id, f'{options} {UNLIMITED}'.replace(', ', ',')) as process:
        assert wait_until(lambda: robot.steady(GRAVITY / SCALE))
        # The ramp goes straight from the measured effort; its first commands may be lost.
        commands = np.array([command for _, command in robot.commands]) * SCALE
        share = (commands - GRAVITY) / (start - GRAVITY)
        np.testing.assert_allclose(share, np.tile(share[:, :1], 7), atol=1e-9)
        assert 0.0 < share[0, 0] < 1.0
        assert (np.diff(share[:, 0]) <= 1e-9).all()
        assert (np.abs(commands) <= LIMITS).all()
        assert wait_until(lambda: len(robot.efforts) > 0)
        np.testing.assert_allclose(robot.efforts[-1][1], GRAVITY, rtol=1e-12)
        (result,) = robot.set_parameters(command_scale=[1.0])
        assert not result.successful
        assert result.reason.startswith('command_scale: cannot be changed while active')
        process.interrupt()
        assert wait_until(lambda: not robot.newest.any())
