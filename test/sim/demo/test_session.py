# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A demo on a busy computer: what comes too late is repeated, with more time."""

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from support.ros.ros_process import NO_ROS

pytest.importorskip('rclpy', reason=NO_ROS)

from rnea_ros.recordings import Sample
from rnea_ros.sim.demo.arm import DemoError
from rnea_ros.sim.demo.client import DemoClient, Received
from rnea_ros.sim.demo.session import BLEND, LEAD, START_TRIALS, WAY, Session

PHASE: Any = object()
LATE, IN_TIME, INVALID = 'ended_in_past', '', 'position_limit'


class Rehearsal(Session):
    """Each trial is the reason to reject a motion, '' for none; None: the law came too late."""

    def __init__(self, *trials: str | None) -> None:
        self._trials = [*trials]
        self._rejected: dict[str, int] = {}
        self.leads: list[float] = []
        self._client: Any = SimpleNamespace(
            now=lambda: 0.0, rejected_trajectories=self._rejected
        )

    def _start(self, motion: Any, mode: str, gains: Any, lead: float) -> float:
        self.leads.append(lead)
        return BLEND + lead if self._trials[0] is not None else float(self._trials.pop(0) or 0.0)

    def _record(self, motion: Any, title: str, start: float) -> Any:
        if reason := self._trials.pop(0):
            count = self._rejected.get(reason, 0) + 1
            self._client.rejected_trajectories = self._rejected = {**self._rejected, reason: count}
        return PHASE


class TurnedClient(DemoClient):
    """The arm is at the pose, with whole turns more or less."""

    def __init__(self, *turned: float) -> None:
        self._measured = np.array(turned)
        self.diagnostics, self.way = {'state': 'active'}, 0.0
        self.trajectories: Any = SimpleNamespace(subscribed=False, send_pose=self._send_pose)

    def set(self, values: Any) -> None:
        pass

    def measured(self) -> Any:
        return self._measured

    def wait_until(self, what: str, condition: Any) -> None:
        assert condition(), what

    def _send_pose(self, joints: Any, pose: Any, way: float = 0.0) -> None:
        self.way = way

    def record(self, *_: Any) -> Any:
        return Received([Sample(0.0, ('yaw', 'pitch', 'slide'), self._measured.tolist(), (), ())])


@pytest.mark.parametrize('off', [0, 2])
def test_continuous_joints_arrive_with_whole_turns_more_or_less(off: int) -> None:
    joints = ('yaw', 'pitch', 'slide')
    model = SimpleNamespace(
        joint_names=joints, position_lower=np.full(3, -np.inf), velocity_limits=np.ones(3),
        position_upper=np.full(3, np.inf), continuous=np.array([True, True, False])
    )
    plan = SimpleNamespace(kp=np.zeros(3), kd=np.zeros(3))
    arm: Any = SimpleNamespace(model=model, joints=joints, plan=plan)
    measured = np.array([0.3 + math.tau, -2.0 * math.tau, 0.1])
    measured[off] += 0.0 if off == 0 else math.tau
    arrival = Session(arm, client := TurnedClient(*measured), 0.1)
    if off == 0:
        arrival.move_to(np.array([0.3, 0.0, 0.1]))
        assert client.way == WAY
        return
    with pytest.raises(DemoError, match='did not arrive'):
        arrival.move_to(np.array([0.3, 0.0, 0.1]))


@pytest.mark.parametrize('late', [[], [LATE, LATE], [None, LATE]])
def test_what_comes_too_late_is_repeated_with_twice_the_time(late: list[str | None]) -> None:
    rehearsal = Rehearsal(*late, IN_TIME)
    assert rehearsal.follow(PHASE, 'phase') is PHASE
    assert rehearsal.leads == [LEAD * 2.0**k for k in range(len(late) + 1)]


@pytest.mark.parametrize(('trials', 'reason'), [
    ([LATE, INVALID, IN_TIME], INVALID), (START_TRIALS * [None], 'came too late'),
])
def test_other_rejections_and_too_many_trials_end_the_demo(trials: Any, reason: str) -> None:
    with pytest.raises(DemoError, match=reason):
        Rehearsal(*trials).follow(PHASE, 'phase')
