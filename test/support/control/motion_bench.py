# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A controlled arm, and what judges motions for it, from a message's bytes to the reference."""

from array import array
from collections import Counter
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from rclpy.serialization import serialize_message
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from rnea_ros.feedforward.trajectory import JointRules, Tolerances
from rnea_ros.node.motion_requests import MotionRequests
from rnea_ros.ros import set_seconds
from support.control.control_rig import Rig

JOINTS = ('shoulder', 'elbow')
Rows = Sequence[Sequence[float]]


def encoded(
    times: Sequence[float], q: Rows, names: Sequence[str] = JOINTS, qd: Rows = (),
    start: float = 0.0,
) -> bytes:
    """Return the bytes of a trajectory of times and positions, and perhaps velocities."""
    message = JointTrajectory(joint_names=list(names))
    set_seconds(message.header.stamp, start)
    for k, (time, row) in enumerate(zip(times, q, strict=True)):
        message.points.append(JointTrajectoryPoint(positions=array('d', row)))
        if qd:
            message.points[-1].velocities = array('d', qd[k])
        set_seconds(message.points[-1].time_from_start, time)
    return bytes(serialize_message(message))


class MotionBench:
    """
    Motions for an active rig.

    :ivar late: time that passes whenever the clock is read, s
    """

    def __init__(self, rig: Rig, rules: JointRules, tolerances: Tolerances) -> None:
        self.rig, self.late = rig, 0.0
        rig.activate()
        setup = SimpleNamespace(
            rules=rules, settings=rig.resolved, state_type=None, tolerances=tolerances,
            deceleration=None,
        )
        log = SimpleNamespace(error=lambda *_, **__: None)
        parts: Any = (
            SimpleNamespace(get_logger=lambda: log), SimpleNamespace(setup=setup), rig.controller,
            SimpleNamespace(latest=self._latest, stamp=lambda: rig.now), Counter[str](),
        )
        self.motions = MotionRequests(*parts)

    def _latest(self) -> float:
        self.rig.now += self.late
        return float(self.rig.now)

    def tick(self, *, offset: float = 0.0) -> None:
        """Step once; the robot follows its reference at an offset."""
        desired = self.rig.controller.reference_at(self.rig.now + self.rig.period)
        if desired is not None:
            self.rig.q[:], self.rig.qd[:] = desired.position + offset, desired.velocity
        self.rig.tick()
