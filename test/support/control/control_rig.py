# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
A robot's control on the bench: plain numbers in, commands out, and every command is inspected.

Time is a number that the rig counts up. Each command must be finite, of the right length, within
the effort limits, and no further from the one before than the rate limit allows.
"""

from collections.abc import Callable, Sequence
from functools import cache
import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rnea_ros import RobotModel
from rnea_ros.feedforward import FeedforwardController, JointBounds, Reason, State
from rnea_ros.feedforward.laws import LAWS, ControlLaw
from rnea_ros.feedforward.measured import JointStateMonitor
from rnea_ros.feedforward.motion import (
    CUBIC,
    Goal,
    JointRules,
    Knots,
    Setpoint,
    Trajectory,
    default_tolerances,
)
from rnea_ros.feedforward.settings import Settings, resolve
from rnea_ros.feedforward.state import MAX_WAIT
from support.models.robots import ROOT, joint, link, load, robot

Array = NDArray[np.float64]

NONE = np.empty(0)

PANDA_POSE = (0.1, -0.7, 0.2, -2.1, -0.1, 1.6, 0.7)
"""A pose of the Franka arm that no joint carries without effort, but the first."""


@cache
def panda_arm() -> RobotModel:
    """Return the shipped seven-joint arm."""
    return load(ROOT / 'urdf' / 'panda_arm.urdf')


@cache
def two_joint_arm() -> RobotModel:
    """Return an arm that swings in a vertical plane, of 100 N m in each joint."""
    return load(robot(
        link('base'), link('upper', 2.0, com=(0.25, 0.0, 0.0)),
        link('lower', 1.0, com=(0.25, 0.0, 0.0)),
        joint('shoulder', 'revolute', 'base', 'upper', axis=(0, 1, 0)),
        joint('elbow', 'revolute', 'upper', 'lower', xyz=(0.5, 0, 0), axis=(0, 1, 0)),
    ))


@cache
def mixed_arm() -> RobotModel:
    """Return an arm with joints of every kind: lift, turn (continuous), bend, and a gripper."""
    return load(robot(
        link('base'),
        link('carriage', 3.0),
        link('upper', 2.0, com=(0.3, 0.0, 0.05)),
        link('lower', 1.0, com=(0.2, 0.1, 0.0)),
        link('finger', 0.5, com=(0.1, 0.0, 0.0)),
        joint('lift', 'prismatic', 'base', 'carriage'),
        joint(
            'turn', 'continuous', 'carriage', 'upper', axis=(0, 1, 0),
            more='<limit effort="80" velocity="3"/>',
        ),
        joint('bend', 'revolute', 'upper', 'lower', xyz=(0.6, 0, 0), axis=(0, 1, 0.2)),
        joint('gripper', 'revolute', 'lower', 'finger', xyz=(0.4, 0, 0), axis=(0, 1, 0)),
    ))


class Rig:
    """
    Steps the control of a robot as the loop would: joint states first, then a tick.

    ``q``, ``qd`` and ``effort`` are what the robot measures, for all joints of the model; tests
    set them, and ``acting_effort`` if a watchdog commanded meanwhile. Every command is kept in
    ``commands``.

    :param model: the robot
    :param q: where the robot is, rad or m
    :param start: monotonic time of the tick before the first, s
    :param differentiate_velocity: of the joint states
    :param settings: of the control, other than the defaults; ``joints`` are all of the model
    """

    def __init__(
        self, model: RobotModel, *, q: ArrayLike = 0.0, start: float = 1000.0,
        differentiate_velocity: bool = False, **settings: Any,
    ) -> None:
        self.model = model
        # Tests put the robot somewhere else from one sample to the next.
        defaults: dict[str, Any] = {
            'joints': model.joint_names, 'rate': 1000.0, 'velocity_limit_factor': 0.0
        }
        self.settings = Settings(**(defaults | settings))
        self.resolved = resolve(self.settings, model)
        self.period = self.settings.period
        self.states = JointStateMonitor(
            model.joint_names, JointBounds.of_robot(model, self.resolved),
            differentiate_velocity=differentiate_velocity,
        )
        self.controller = FeedforwardController(model, self.resolved, self.states)
        self.now = start
        self.q = np.zeros(model.nv)
        self.q[:] = q
        self.qd = np.zeros(model.nv)
        self.effort: Array | None = None
        self.acting_effort: Array | None = None
        self.commands: list[Array] = []
        self._last: Array | None = None
        self._before = np.zeros(len(self.settings.joints))
        self._stepped_at = math.inf
        self._blocked_at = -math.inf

    def state(self) -> State:
        """Where the control stands."""
        return self.controller.state

    @property
    def gravity(self) -> Array:
        """The gravity torque of the commanded joints where the robot is, in command order."""
        return self.model.gravity_torques(self.q)[self.resolved.joint_indices]

    @property
    def greatest_step(self) -> Array:
        """By how much a command may differ from the one before."""
        return np.array(self.resolved.effort_rate_limit) * self.period * (1.0 + 1e-9)

    def feed(
        self, *, names: Sequence[str] | None = None, stamp: float | None = None,
        clock: float | None = None, **values: ArrayLike | None,
    ) -> Reason | None:
        """
        Let a joint state come now, of all joints or of those named.

        :param stamp: its own time, by default the same as the rig's
        :param clock: what the clock of stamps shows, by default the rig's time
        :param values: ``q``, ``qd``, ``effort`` in the order of the names; None for an empty one
        """
        all_names = self.model.joint_names
        names = list(names or all_names)
        chosen = [all_names.index(name) for name in names if name in all_names]
        effort = None if self.effort is None else self.effort[chosen]
        given = {'q': self.q[chosen], 'qd': self.qd[chosen], 'effort': effort} | values
        q, qd, tau = (
            NONE if value is None else np.array(value, dtype=np.float64)
            for value in (given['q'], given['qd'], given['effort'])
        )
        return self.states.take_sample(
            names, q, qd, tau, stamp=self.now if stamp is None else stamp,
            clock=self.now if clock is None else clock, received=self.now,
        )

    def wait(self, periods: float = 1.0) -> None:
        """Let time pass in which nothing happens."""
        self.now += periods * self.period

    def step(self) -> Array | None:
        """Return a copy of the command of a tick now, inspected."""
        self.begin_tick()
        return self.inspect(self.controller.step(self.now))

    def begin_tick(self) -> None:
        """Keep what the command of a tick now is compared with; before ``controller.step``."""
        before = self._acting_effort() if self._last is None else self._last
        self._before = np.zeros(len(self.settings.joints)) if before is None else before
        elapsed, self._stepped_at = self.now - self._stepped_at, self.now
        blocked = elapsed - 0.5 * self.period > self.resolved.joint_states_timeout
        ended = self.state() in (State.FAULT, State.STOPPED)
        if blocked and not ended and self._last is not None:
            self._blocked_at = self.now

    def inspect(self, returned: Array | None, since_last: float = math.inf) -> Array | None:
        """Return a copy of a command that keeps its limits, sent so long after the one before."""
        if returned is None:
            waits = self.now - self._blocked_at <= MAX_WAIT
            assert self._last is None or self.controller.withheld or waits, 'commands stopped'
            if self.controller.withheld:
                self._last = None
            return None
        command, before = returned.copy(), self._before
        since_last = math.inf if self._last is None else since_last
        if self._blocked_at > -math.inf:
            newer = self.states.age(self.now, self.resolved.joint_indices) < (
                self.now - self._blocked_at
            )
            acting = self._acting_effort() if newer else None
            acting = self.acting_effort if acting is None else acting
            before, since_last = (before, since_last) if acting is None else (acting, math.inf)
            self._blocked_at = -math.inf
        assert not self.controller.withheld
        assert_valid(command, before, self.resolved, since_last)
        self._last = command
        self.commands.append(command)
        return command

    def tick(self, *, feed: bool = True) -> Array | None:
        """Let a period pass, a joint state come if asked to, and the control take its tick."""
        self.wait()
        if feed:
            assert self.feed() is None
        return self.step()

    def run(self, seconds: float, *, feed: bool = True) -> Array:
        """Return the commands of some time, shape (ticks, m)."""
        ticks = round(seconds / self.period)
        commands = [self.tick(feed=feed) for _ in range(ticks)]
        return np.array([command for command in commands if command is not None])

    def run_until(self, *states: State, limit: float = 30.0, feed: bool = True) -> float:
        """Run until the control is in one of some states; return how long that took."""
        began = self.now
        while self.state() not in states:
            assert self.now - began < limit, f'still {self.state()}'
            self.tick(feed=feed)
        return self.now - began

    def activate(self) -> None:
        """Run until the start ramp is over."""
        self.run_until(State.ACTIVE)

    def change(self, **settings: Any) -> None:
        """Change settings while running."""
        self.settings = Settings(**(vars(self.settings) | settings))
        self.controller.change(resolve(self.settings, self.model))

    def pursue(self, motion: Trajectory, start: float | None = None) -> Any:
        """Follow a motion; return its goal, without tolerances."""
        names = self.settings.joints
        goal = Goal(motion, default_tolerances(names, {}, {}, 0.0, 0.0), free_rules(names))
        self.controller.follow(motion, start, goal)
        return goal

    def desired(self) -> tuple[Array, Array]:
        """Return the position and velocity that are desired, zeros while none are."""
        desired = self.controller.motions.reference_at(self.now)
        zero = np.zeros(len(self.settings.joints))
        return (zero, zero) if desired is None else (desired.position, desired.velocity)

    def _acting_effort(self) -> Array | None:
        """Return the effort that the control is to take over from, by DESIGN's rule."""
        effort = self.states.effort[self.resolved.joint_indices]
        if (
            self.settings.hardware_compensates
            or not self.settings.start_from_measured_effort
            or not np.isfinite(effort).all()
        ):
            return None
        limits = np.array(self.resolved.effort_limits)
        acting: Array = np.clip(effort, -limits, limits)
        return acting


def assert_valid(command: Array, before: Array, settings: Any, since_last: float) -> None:
    """Check a command against its limits and the one before, which was sent so long ago, s."""
    assert command.shape == (len(settings.joints),)
    assert np.isfinite(command).all(), command
    assert (np.abs(command) <= settings.effort_limits).all(), command
    elapsed = min(since_last, settings.period)
    step = np.array(settings.effort_rate_limit) * elapsed * (1.0 + 1e-9)
    assert (np.abs(command - before) <= step).all(), (before, command)


def swing(names: Sequence[str], start: ArrayLike, end: ArrayLike, duration: float) -> Trajectory:
    """Return a motion from rest to rest, a cubic."""
    positions = np.array([start, end], dtype=np.float64)
    still = np.zeros_like(positions)
    knots = Knots(
        np.array([0.0, duration]), positions, still, still.copy(), np.array([CUBIC, CUBIC])
    )
    return Trajectory(tuple(names), None, knots)


def setpoint(names: Sequence[str], q: ArrayLike, qd: ArrayLike = 0.0) -> Setpoint:
    """Return a streamed set-point."""
    position = np.array(q, dtype=np.float64)
    velocity = np.broadcast_to(np.array(qd, dtype=np.float64), position.shape).copy()
    return Setpoint(None, tuple(names), position, velocity, np.zeros_like(position))


def free_rules(names: Sequence[str], **changes: Any) -> JointRules:
    """Return rules for joints without any limit, none of which turns without end."""
    free = np.full(len(names), np.inf)
    given: dict[str, Any] = {
        'joint_names': tuple(names), 'lower': -free, 'upper': free, 'velocity_limits': free,
        'continuous': np.zeros(len(names), dtype=np.bool_), 'start_tolerance': np.inf,
    }
    return JointRules(**(given | changes))


def law_effort(
    law: type[ControlLaw], dynamics: Any, measured: tuple[Array, Array],
    desired: tuple[Array, Array, Array], gains: tuple[ArrayLike, ArrayLike],
) -> Array:
    """Return a law's effort by the table of docs/control.md; ``dynamics``: model or oracle."""
    (q, qd), (q_d, qd_d, qdd_d), (kp, kd) = measured, desired, gains
    zero = np.zeros_like(q)
    feedback: Array = np.asarray(kp) * (q_d - q) + np.asarray(kd) * (qd_d - qd)
    gravity = dynamics.inverse_dynamics(q, zero, zero)
    efforts: dict[str, Callable[[], Array]] = {
        'gravity': lambda: gravity,
        'feedforward': lambda: dynamics.inverse_dynamics(q_d, qd_d, qdd_d) + feedback,
        'computed_torque': lambda: dynamics.inverse_dynamics(q, qd, qdd_d + feedback),
        'feedback': lambda: feedback, 'gravity_feedback': lambda: gravity + feedback,
        'cartesian_impedance': lambda: gravity,  # at rest, where it begins
    }
    assert efforts.keys() == LAWS.keys()
    return efforts[law.name]()


def cubic(start: float, end: float, s: float) -> float:
    """Return where a motion from rest to rest is after a share ``s`` of its time."""
    s = min(max(s, 0.0), 1.0)
    return start + (end - start) * (3.0 - 2.0 * s) * s * s
