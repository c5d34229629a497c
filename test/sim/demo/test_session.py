# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A demo on a busy computer: what comes too late is repeated, with more time."""

from types import SimpleNamespace
from typing import Any

import pytest

from support.ros.ros_process import NO_ROS

pytest.importorskip('rclpy', reason=NO_ROS)

from rnea_ros.sim.demo.arm import DemoError
from rnea_ros.sim.demo.session import BLEND, LEAD, START_TRIALS, Session

PHASE: Any = object()
LATE, IN_TIME, INVALID = 'ended_in_past', '', 'position_limit'


class Rehearsal(Session):
    """Each trial is the reason to reject a motion, '' for none; None: the law came too late."""

    def __init__(self, *trials: str | None) -> None:
        self._trials = [*trials]
        self._rejected: dict[str, str] = {}
        self.leads: list[float] = []
        self._client: Any = SimpleNamespace(
            now=lambda: 0.0, rejected_trajectories=lambda: dict(self._rejected)
        )

    def _start(self, motion: Any, mode: str, gains: Any, lead: float) -> float:
        self.leads.append(lead)
        return BLEND + lead if self._trials[0] is not None else float(self._trials.pop(0) or 0.0)

    def _record(self, motion: Any, title: str, start: float) -> Any:
        if reason := self._trials.pop(0):
            self._rejected[reason] = str(int(self._rejected.get(reason, '0')) + 1)
        return PHASE


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
