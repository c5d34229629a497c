# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Goals of motions, tick by tick: which tolerances count, and how goals end."""

from collections.abc import Callable
import math
from typing import Any

import numpy as np
import pytest

from rnea_ros.errors import RequestRejectedError
from rnea_ros.feedforward import Reason, State
from rnea_ros.feedforward.laws import Feedforward, Gravity
from rnea_ros.feedforward.motion import (
    ErrorCode,
    Goal,
    Tolerances,
    Trajectory,
    default_tolerances,
    error_code,
)
from rnea_ros.feedforward.motion.goals import JointTolerance
from rnea_ros.feedforward.motion.trajectory import Handover, join
from support.control.control_rig import Array, Rig, free_rules, swing, two_joint_arm

JOINTS = ('shoulder', 'elbow')
START, END = np.array([0.4, -0.9]), np.array([0.6, -1.2])
DURATION = 0.2
RULES = free_rules(JOINTS, continuous=np.array([False, True]))
MOTION = swing(JOINTS, START, END, DURATION)
SLOW = swing(JOINTS, START, END, 1.0)
INF = math.inf


def tolerances(
    path: float = 0.0, goal: float = 0.0, stopped: float = 0.0, time: float = 0.0
) -> Tolerances:
    """Return default tolerances, the same for both joints."""
    return default_tolerances(
        JOINTS, dict.fromkeys(JOINTS, path), dict.fromkeys(JOINTS, goal), stopped, time
    )


class GoalRig(Rig):
    """An arm that is controlled, stands still, and gets goals."""

    def follow(
        self, limits: Tolerances, motion: Trajectory = MOTION, start: float | None = None
    ) -> Goal:
        goal = Goal(motion, limits, RULES)
        self.controller.follow(motion, start, goal)
        return goal

    def track(self, seconds: float, error: Any = 0.0) -> None:
        """Let the robot follow the reference, off it by an error."""
        for _ in range(round(seconds / self.period)):
            desired = self.controller.motions.reference_at(self.now + self.period)
            if desired is not None:
                self.q[:], self.qd[:] = desired.position + error, desired.velocity
            self.tick()

    def held(self) -> Array:
        position = self.controller.hold_position(self.now)
        assert position is not None
        return position


@pytest.fixture
def rig() -> GoalRig:
    rig = GoalRig(two_joint_arm(), q=START, mode=Feedforward, ramp_duration=0.05)
    rig.activate()
    return rig


def code(goal: Goal) -> ErrorCode | None:
    return None if goal.result is None else goal.result.code


def text(goal: Goal) -> str:
    assert goal.result is not None
    return goal.result.text


# Tolerances


@pytest.mark.parametrize(('path', 'goal', 'time', 'expected'), [
    (  # stated, in any order of joints
        [('elbow', 0.2, 0.3, 0.4)], [('elbow', 1.2, 2.2, 3.2), ('shoulder', 1.1, 2.1, 3.1)], 2.0,
        ([[0.1, 0.2], [INF, 0.3]], [[1.1, 1.2], [2.1, 2.2]], 2.0),
    ),
    (  # 0 is the default: positions, the velocity at the goal, and the goal time
        [('elbow', 0, 0, 0)], [('elbow', 0, 0, 0)], 0,
        ([[0.1, 0.1], [INF, INF]], [[0.2, 0.2], [0.3, 0.3]], 0.4),
    ),
    (  # -1 is unlimited, also rounded to single precision
        [('elbow', -1, -1, -1)], [('elbow', -1, -1.0000001, -1)], -1.0,
        ([[0.1, INF], [INF, INF]], [[0.2, INF], [0.3, INF]], INF),
    ),
])
def test_a_goal_states_tolerances(path: Any, goal: Any, time: float, expected: Any) -> None:
    on_path, at_goal = ([JointTolerance(*each) for each in given] for given in (path, goal))
    stated = tolerances(0.1, 0.2, 0.3, 0.4).stated(on_path, at_goal, time)
    assert (stated.path.tolist(), stated.goal.tolist(), stated.goal_time) == expected


@pytest.mark.parametrize(('path', 'goal', 'time', 'words'), [
    ([('wrist', 0.1, 0, 0)], [], 0, "path_tolerance: 'wrist' is not one of"),
    ([('elbow', 0, -0.5, 0)], [], 0, "path_tolerance of 'elbow': velocity -0.5 is none of"),
    ([], [('elbow', math.nan, 0, 0)], 0, "goal_tolerance of 'elbow': position nan"),
    ([], [], -2.0, 'goal_time_tolerance -2'),
])
def test_invalid_tolerances_are_named(path: Any, goal: Any, time: float, words: str) -> None:
    on_path, at_goal = ([JointTolerance(*each) for each in given] for given in (path, goal))
    with pytest.raises(RequestRejectedError, match=f'^invalid_tolerance: .*{words}'):
        tolerances().stated(on_path, at_goal, time)


def test_error_codes_are_those_of_follow_joint_trajectory() -> None:
    assert {each.name: each.value for each in ErrorCode} == {
        'SUCCESSFUL': 0, 'INVALID_GOAL': -1, 'INVALID_JOINTS': -2, 'OLD_HEADER_TIMESTAMP': -3,
        'PATH_TOLERANCE_VIOLATED': -4, 'GOAL_TOLERANCE_VIOLATED': -5,
    }
    for word in ('empty_joint_names', 'duplicate_joint', 'unknown_joint', 'missing_joint'):
        assert error_code(word) is ErrorCode.INVALID_JOINTS
    assert error_code('ended_in_past') is ErrorCode.OLD_HEADER_TIMESTAMP
    assert error_code('velocity_limit') is ErrorCode.INVALID_GOAL


# Success


@pytest.mark.parametrize('error', [0.0, np.array((0.0, math.tau))], ids=['', 'a turn away'])
def test_a_goal_succeeds_at_the_end_of_its_motion(rig: GoalRig, error: Any) -> None:
    goal = rig.follow(tolerances(0.01, 0.01, 0.01))
    rig.track(DURATION, error)
    assert code(goal) is None
    rig.track(2 * rig.period, error)
    assert code(goal) is ErrorCode.SUCCESSFUL
    np.testing.assert_allclose(rig.held(), END)
    goal.drop(Reason.REPLACED)
    assert code(goal) is ErrorCode.SUCCESSFUL  # the first result stays


def test_a_goal_waits_until_the_robot_is_there_and_at_rest(rig: GoalRig) -> None:
    goal = rig.follow(tolerances(goal=0.01, stopped=0.01))
    rig.track(1.0, (0.0, 0.02))
    assert code(goal) is None
    rig.q[:], rig.qd[:] = END + 0.009, (0.011, 0.0)
    rig.run(0.1)
    assert code(goal) is None
    rig.qd[0] = 0.009
    rig.tick()
    assert code(goal) is ErrorCode.SUCCESSFUL


def test_a_goal_takes_as_much_longer_as_speed_scaling_makes_its_motion(rig: GoalRig) -> None:
    rig.controller.speed_scaling.set_target(0.25)
    rig.run(0.5)
    goal = rig.follow(tolerances(0.01, 0.01, 0.01, time=0.01))
    rig.track(4.0 * DURATION - rig.period)
    assert code(goal) is None
    assert goal.sample is not None
    assert goal.sample.motion_time == pytest.approx(0.25 * goal.sample.elapsed, abs=1e-9)
    rig.track(4 * rig.period)
    assert code(goal) is ErrorCode.SUCCESSFUL


def test_a_motion_that_waits_for_its_start_is_not_judged_before_it(rig: GoalRig) -> None:
    goal = rig.follow(tolerances(path=0.01), start=rig.now + 0.1)
    rig.track(0.09, error=0.5)
    assert code(goal) is None
    assert goal.sample is None
    rig.q[:], rig.qd[:] = START, 0.0
    rig.run(0.011)
    rig.track(DURATION)
    assert code(goal) is ErrorCode.SUCCESSFUL


# Violations


def test_a_violated_path_tolerance_ends_the_goal_at_that_tick(rig: GoalRig) -> None:
    goal = rig.follow(tolerances(path=0.05))
    rig.track(0.1, error=0.049)
    assert code(goal) is None
    rig.q[:], rig.qd[:] = where = np.array([0.7, -0.8]), np.zeros(2)
    rig.tick()
    assert code(goal) is ErrorCode.PATH_TOLERANCE_VIOLATED
    assert text(goal).startswith("path_tolerance: joint 'elbow': position error -")
    assert 'exceeds 0.05, 0.1' in text(goal)
    np.testing.assert_allclose(rig.held(), where[0])
    rig.run(0.2)
    assert rig.state() is State.ACTIVE
    goal = rig.follow(tolerances().stated([JointTolerance('shoulder', 0, 0.5, 0)], [], 0))
    rig.track(0.05)
    rig.qd[0] += 0.6
    rig.tick()
    assert code(goal) is ErrorCode.PATH_TOLERANCE_VIOLATED
    assert "joint 'shoulder': velocity error -0.58" in text(goal)


def test_a_goal_that_is_not_reached_in_goal_time_is_missed(rig: GoalRig) -> None:
    """Goal time stands still while the speed is 0: from full speed, half a second of slowing."""
    goal = rig.follow(tolerances(goal=0.1, time=0.3))
    rig.track(DURATION + 0.01, error=0.11)
    rig.controller.speed_scaling.set_target(0.0)
    rig.track(1.2, error=0.11)
    assert code(goal) is None
    rig.controller.speed_scaling.set_target(1.0)
    rig.track(0.2, error=0.11)
    assert code(goal) is None
    rig.track(0.1, error=0.11)
    assert code(goal) is ErrorCode.GOAL_TOLERANCE_VIOLATED
    assert text(goal).startswith('goal_tolerance: joint ')
    assert 'the goal time tolerance is 0.3 s' in text(goal)
    np.testing.assert_allclose(rig.held(), END + 0.11, atol=1e-9)


# Every other end


def withhold(rig: Rig) -> None:
    rig.controller.permitted = False


@pytest.mark.parametrize(('end', 'reason'), [
    (lambda rig: rig.controller.follow(SLOW, None), Reason.REPLACED),
    (lambda rig: rig.controller.follow(SLOW, rig.now + 1.0), Reason.REPLACED),
    (lambda rig: rig.controller.cancel(), Reason.CANCELLED),
    (lambda rig: rig.change(mode=Gravity), Reason.MODE_WITHOUT_MOTION),
    (withhold, Reason.COMMANDS_WITHHELD),
], ids=['another motion', 'a later motion', 'cancel', 'mode gravity', 'withheld commands'])
def test_a_dropped_motion_aborts_its_goal(
    rig: GoalRig, end: Callable[[Rig], object], reason: Reason
) -> None:
    goal = rig.follow(tolerances())
    rig.track(0.1)
    assert code(goal) is None
    end(rig)
    rig.track(2 * rig.period)
    assert code(goal) is ErrorCode.INVALID_GOAL
    assert text(goal).startswith(f'{reason.value}: ')
    if reason is Reason.MODE_WITHOUT_MOTION:  # nor is a motion followed that comes in this mode
        goal = rig.follow(tolerances())
        rig.tick()
        assert text(goal).startswith('mode_without_motion: ')
    if reason is Reason.COMMANDS_WITHHELD:
        np.testing.assert_allclose(rig.held(), rig.q)


def test_a_cancel_of_a_goal_leaves_the_motion_that_has_replaced_it(rig: GoalRig) -> None:
    first = rig.follow(tolerances())
    rig.track(0.05)
    second = rig.follow(tolerances(), swing(JOINTS, rig.q, END, 0.2))
    rig.controller.cancel(first)
    rig.track(0.3)
    assert code(second) is ErrorCode.SUCCESSFUL


def test_a_goal_is_not_judged_by_a_motion_joined_to_another_one(rig: GoalRig) -> None:
    rig.controller.follow(SLOW, None)
    rig.run(0.05)
    joined = join(Handover(SLOW, 0.0, 0.2), swing(JOINTS, START, START, 0.5).knots, np.arange(2))
    goal = rig.follow(tolerances(), start=rig.now + 0.1)
    rig.controller.follow(joined, None)
    rig.run(0.01)
    assert text(goal).startswith('replaced: ')
