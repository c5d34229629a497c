# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Streams of trajectories with a single point, a little ahead, and what an arm does with them."""

import numpy as np
import pytest

from rnea_ros.feedforward import acceleration_limits
from rnea_ros.feedforward.law import ComputedTorque
from rnea_ros.feedforward.settings import resolve
from rnea_ros.feedforward.trajectory import (
    JointRules,
    TrajectoryError,
    TrajectoryPoint,
    TrajectoryRequest,
    compile_trajectory,
)
from support.control.control_rig import PANDA_POSE
from support.models.robots import ROOT

pytest.importorskip('mujoco', reason='MuJoCo (pip install mujoco) is not installed')

from support.control.closed_loop import ClosedLoop, swing

HANDOVER = 0.003
"""Time from a request to its start if it is joined, s."""


def stream(
    rate: float, *, velocities: bool, replacement: bool, points: int = 1
) -> tuple[float, float, list[str]]:
    """
    Return the greatest share of a velocity limit, and deviation from the reference; rejections.

    :param rate: of the messages, which come up to 30 % early or late, Hz
    """
    pose = np.array(PANDA_POSE)
    loop = ClosedLoop(
        ROOT / 'urdf/panda_arm.urdf', pose, mode=ComputedTorque, kp=(200.0,), kd=(20.0,)
    )
    model, control, joints = loop.model, loop.control, loop.settings.joints
    rules = JointRules(
        joints, model.position_lower, model.position_upper, model.continuous,
        model.velocity_limits, allow_nonzero_velocity_at_trajectory_end=True,
        allow_trajectory_replacement=replacement,
        acceleration_limits=acceleration_limits(model, resolve(loop.settings, model)),
    )
    loop.hold(pose, 0.5)
    rng, began, next_message = np.random.default_rng(0), loop.now, loop.now
    share = deviation = 0.0
    rejections: list[str] = []
    while loop.now < began + 2.5:
        if loop.now >= next_message:
            next_message += (1.0 + 0.3 * rng.uniform(-1.0, 1.0)) / rate
            ahead = np.arange(1, points + 1) / rate
            states = [swing(pose, 0.2, 0.3, loop.now - began + float(time)) for time in ahead]
            request = TrajectoryRequest.of_points(joints, [
                TrajectoryPoint(time, q, qd if velocities else ())
                for time, (q, qd, _) in zip(ahead, states, strict=True)
            ])
            handover = control.handover(loop.now + HANDOVER) if replacement else None
            position, velocity = control.measured()
            try:
                motion = compile_trajectory(
                    request, rules, now=loop.now + (HANDOVER if handover else 0.0),
                    position=position, velocity=velocity, handover=handover,
                )
                control.follow(motion, motion.start_time)
            except TrajectoryError as error:
                rejections.append(str(error))
        loop.tick()
        position, velocity = control.measured()
        desired = control.reference_at(loop.now)
        assert desired is not None
        assert loop.active()
        share = max(share, float(np.abs(velocity / model.velocity_limits).max()))
        deviation = max(deviation, float(np.abs(desired.position - position).max()))
    return share, deviation, rejections


@pytest.mark.parametrize('replacement', [False, True])
@pytest.mark.parametrize('velocities', [False, True])
@pytest.mark.parametrize('rate', [25.0, 50.0])
def test_a_stream_of_single_points_never_throws_the_arm(
    rate: float, *, velocities: bool, replacement: bool
) -> None:
    share, deviation, rejections = stream(rate, velocities=velocities, replacement=replacement)
    print(f'{share:.2f} of a velocity limit, {1e3 * deviation:.0f} mrad, {len(rejections)}')
    assert share < 1.0
    assert deviation < 0.1  # start_tolerance
    assert all('send several points' in each for each in rejections)
    assert bool(rejections) == (velocities or replacement)


@pytest.mark.parametrize('velocities', [False, True])
def test_a_window_of_points_is_followed(*, velocities: bool) -> None:
    _, deviation, rejections = stream(50.0, velocities=velocities, replacement=True, points=5)
    assert not rejections
    assert deviation < 0.005
