# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Streams of trajectories, of single points or windows, and an arm that follows."""

from typing import Any

import numpy as np
import pytest

from rnea_ros.feedforward import acceleration_limits
from rnea_ros.feedforward.laws import ComputedTorque
from rnea_ros.feedforward.motion import (
    JointRules,
    TrajectoryError,
    TrajectoryPoint,
    TrajectoryRequest,
    compile_trajectory,
)
from rnea_ros.feedforward.settings import resolve

pytest.importorskip('mujoco', reason='MuJoCo (pip install mujoco) is not installed')

from support.control.closed_loop import PANDA, POSES, ClosedLoop, swing

POSE = POSES[PANDA]
HANDOVER = 0.006
"""Time from a request to its start if it is joined, s."""

RATE = 50.0
"""Of the messages, which come up to 30 % early or late, Hz."""


class Stream(ClosedLoop):
    """An arm that is sent trajectories."""

    def __init__(self, *, kp: float, replacement: bool, **rules: Any) -> None:
        super().__init__(PANDA, POSE, rate=500.0, mode=ComputedTorque, kp=(kp,), kd=(20.0,))
        model = self.model
        self.rules = JointRules(
            self.settings.joints, model.position_lower, model.position_upper, model.continuous,
            model.velocity_limits, allow_trajectory_replacement=replacement, **rules,
        )
        self.hold(POSE, 0.3)

    def send(self, points: list[TrajectoryPoint], start: float | None = None) -> None:
        request = TrajectoryRequest.of_points(self.settings.joints, points, start)
        joined = self.rules.allow_trajectory_replacement
        handover = self.control.motions.handover(self.now + HANDOVER) if joined else None
        position, velocity = self.control.measured()
        motion = compile_trajectory(
            request, self.rules, now=self.now + (HANDOVER if handover else 0.0),
            position=position, velocity=velocity, handover=handover,
        )
        self.control.follow(motion, motion.start_time if start is None else self.now)


def stream(*, replacement: bool, points: int = 1) -> tuple[float, float, list[str]]:
    """Return the greatest share of a velocity limit, and deviation; rejections."""
    loop = Stream(kp=200.0, replacement=replacement, allow_nonzero_velocity_at_trajectory_end=True)
    limits = acceleration_limits(loop.model, resolve(loop.settings, loop.model))
    loop.rules = JointRules(**(vars(loop.rules) | {'acceleration_limits': limits}))
    rng, began, next_message = np.random.default_rng(0), loop.now, loop.now
    share = deviation = 0.0
    rejections: list[str] = []
    while loop.now < began + 1.5:
        if loop.now >= next_message:
            next_message += (1.0 + 0.3 * rng.uniform(-1.0, 1.0)) / RATE
            sent = []
            for ahead in np.arange(1, points + 1) / RATE:
                q, qd, _ = swing(POSE, 0.2, 0.3, loop.now - began + float(ahead))
                sent.append(TrajectoryPoint(float(ahead), q, qd if points > 1 else ()))
            try:
                loop.send(sent)
            except TrajectoryError as error:
                rejections.append(str(error))
        loop.tick()
        position, velocity = loop.control.measured()
        desired = loop.control.motions.reference_at(loop.now)
        assert desired is not None
        share = max(share, float(np.abs(velocity / loop.model.velocity_limits).max()))
        deviation = max(deviation, float(np.abs(desired.position - position).max()))
    assert loop.active()
    return share, deviation, rejections


@pytest.mark.parametrize('replacement', [False, True])
def test_a_stream_of_single_points_never_throws_the_arm(replacement: bool) -> None:
    share, deviation, rejections = stream(replacement=replacement)
    assert share < 1.0
    assert deviation < 0.1  # start_tolerance
    assert all('send several points' in each for each in rejections)
    assert bool(rejections) == replacement


def test_a_window_of_points_is_followed() -> None:
    _, deviation, rejections = stream(replacement=True, points=5)
    assert not rejections
    assert deviation < 0.005
