# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The robot around the control loop of a random run: an arm, and the messages of its sensors."""

from collections import defaultdict
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rnea_ros import RobotModel
from rnea_ros.feedforward import State
from rnea_ros.feedforward.laws import ComputedTorque
from rnea_ros.feedforward.loaded_model import HardwareCompensation
from rnea_ros.feedforward.motion import Goal
from rnea_ros.feedforward.reasons import Reason
from rnea_ros.feedforward.settings import NodeSettings, WrenchInputSettings, complete_values
from support.control.control_rig import Array, Rig
from support.control.random_messages import BadMessages, Queue, imu, joint_state, wrench
from support.control.random_plan import Event, Plan, Robot
from support.control.virtual_loop import Stalls, VirtualClock

START = 1000.0
STEP = 0.002
"""Longest step of the integration, s."""

TOPICS = ('joint_states', 'wrist', 'free', 'imu', 'efforts')


@cache
def loaded(robot: Robot, mass: float) -> RobotModel:
    """Return a robot with a payload on its last link, kg."""
    model = robot.model()
    return model.with_payload(model.link_names[-1], mass) if mass else model


class MovingArm:
    """
    Moves the n joints of a model; a spring and a damper hold those that are not commanded.

    :param commanded: indices of the m commanded joints
    :param q: where the arm starts, shape (n,)
    :param friction: Coulomb friction of every joint
    :param compensates: whether the robot compensates gravity
    :ivar command: efforts of the motors, shape (m,); None: another controller moves the arm
    :ivar travel: velocity at which that one moves the arm, shape (n,)
    :ivar push: efforts of the environment, shape (n,)
    """

    def __init__(
        self, model: RobotModel, commanded: NDArray[np.intp], q: Array,
        friction: float, *, compensates: bool,
    ) -> None:
        self._commanded, self._friction, self._compensates = commanded, friction, compensates
        self._others = np.setdiff1d(np.arange(model.nv), commanded)
        self._lower = np.where(model.continuous, -np.inf, model.position_lower)
        self._upper = np.where(model.continuous, np.inf, model.position_upper)
        self._home, self.q, self.qd = q, q.copy(), np.zeros_like(q)
        self.command: Array | None = None
        self.push, self.travel = np.zeros_like(q), np.zeros_like(q)
        self.load(model)

    def load(self, model: RobotModel) -> None:
        """Have the masses of a model, with another payload, from now on."""
        self._workspace = model.workspace()

    def gravity(self) -> Array:
        """Return what the motors need to hold the arm here, shape (n,)."""
        gravity: Array = (not self._compensates) * self._workspace.gravity_torques(self.q)
        return gravity

    def step(self, duration: float) -> None:
        """Move for a time, s."""
        steps = int(np.ceil(duration / STEP - 1e-6))
        for _ in range(steps):
            self._move(duration / steps)

    def _move(self, dt: float) -> None:
        if self.command is None:
            self.qd[:] = self.travel
        else:
            effort = self.push - 0.2 * self.qd - self._friction * np.tanh(self.qd / 0.05)
            effort[self._commanded] += self.command
            if self._compensates:
                effort += self._workspace.gravity_torques(self.q)
            if self._others.size:
                away = (self._home - self.q)[self._others]
                effort[self._others] += 20.0 * away - 2.0 * self.qd[self._others]
            self.qd += dt * self._workspace.forward_dynamics(self.q, self.qd, effort)
        self.q += dt * self.qd
        beyond = (self.q < self._lower) | (self.q > self._upper)
        if beyond.any():
            self.q[:] = np.clip(self.q, self._lower, self._upper)
            self.qd[beyond] = 0.0


class RandomRobot:
    """
    An arm with sensors, whose messages are valid, false or missing while events act.

    :ivar joints: indices of the commanded joints
    :ivar first: which kind of joint state comes first
    :ivar shaking: amplitude of the acceleration that the IMU measures, m/s^2
    :ivar stalls: whether the loop stalls between statements
    :ivar happened: the kinds of all events so far
    :ivar causes: kinds of events that may have ended the control, with their durations, s
    :ivar quiet_since: when the last event, or its effect, ends, s
    :ivar goals: all goals, each with the results that it had, one after the other
    :ivar false_position: of the false publisher of joint states, shape (n,)
    :ivar sent: all commands
    :ivar seen: all states, and all reasons of ends, flags and rejections
    """

    unconfirmed, subscribed = False, True

    def __init__(self, plan: Plan) -> None:
        values = plan.values()
        self.robot: Robot = values.pop('robot')
        model = loaded(self.robot, 0.0)
        q = np.array(self.robot.pose) + values.pop('pose')
        self.first, shaking = values.pop('first'), values.pop('shaking')
        self.shaking = shaking if values['base_sensor'] else 0.0
        friction, self._has_efforts = values.pop('arm_friction'), values.pop('measures_effort')
        self._permitted_at = START + values.pop('permitted_after')
        self._turned = values.pop('reversed')
        longest = values.pop('longest_stall')
        if values.pop('sensors'):
            quick: dict[str, Any] = {'tare_duration': 0.1}
            values['wrench_inputs'] = (
                WrenchInputSettings('wrist', '/wrist', model.link_names[-1], **quick),
                WrenchInputSettings('free', '/free', **quick),
            )
        self.rig = rig = Rig(
            model, q=q, start=START, velocity_limit_factor=2.0,
            joints=self._in_order(model.joint_names[: self.robot.joints]),
            **(values | self._law(values['mode'])),
        )
        self.controller, self.joints = rig.controller, rig.resolved.joint_indices
        compensated = values['hardware_compensates']
        self.arm = MovingArm(
            model, self.joints, q, (HardwareCompensation.FRICTION not in compensated) * friction,
            compensates=HardwareCompensation.GRAVITY in compensated,
        )
        self._names = rig.settings.joints
        parameters = {'allow_trajectory_replacement': True, 'use_trajectory_effort': True}
        settings = NodeSettings.of(complete_values(parameters))
        self._limits = settings.rules(model, rig.resolved)
        self._events, self._due = list(plan.events), list[Event]()
        self._waited = self._after_end = 0
        self._present: dict[str, Event] = {}
        self._until: defaultdict[str, float] = defaultdict(lambda: -np.inf)
        self._sample_is_first, self._brakes_open, self._offset = True, False, 0.0
        self._rng = np.random.default_rng(plan.seed)
        self._bad = BadMessages(self._rng, model.joint_names, model.link_names)
        self._queues = {name: Queue() for name in TOPICS}
        self.clock = VirtualClock(START, self.arm.step)
        self.stalls = Stalls(plan.seed, longest, self._stall) if longest else None
        self._command: Array | None = None
        self._sent_at, self._since_sent, self._ticking = -np.inf, np.inf, False
        self.happened: list[str] = []
        self.causes = {'weak': np.inf} if values['effort_limits'] != (0.0,) else {}
        self.goals: list[tuple[Goal, list[object]]] = []
        self.quiet_since = self._events_end = self._stream_began = rig.now
        self.false_position, self._stream_start = q, q[self.joints]
        self.sent: list[Array] = []
        self.seen: set[State | Reason] = set()

    def _in_order(self, values: Any) -> tuple[Any, ...]:
        return tuple(values)[::-1] if self._turned else tuple(values)

    def _law(self, mode: Any) -> dict[str, Any]:
        if mode is ComputedTorque:
            return {'mode': mode, 'kp': (100.0,), 'kd': (20.0,)}
        robot = self.robot
        return {'mode': mode, 'kp': self._in_order(robot.kp), 'kd': self._in_order(robot.kd)}

    @property
    def _follows(self) -> bool:
        """Whether motions are followed, and the arm is free to move."""
        return self.controller.following and self.arm.command is not None

    def acting(self, *kinds: str) -> bool:
        """Return whether the effect of an event of one of some kinds lasts."""
        now = self.rig.now
        return now < self._events_end and any(now < self._until[kind] for kind in kinds)

    def check(self) -> bool:
        """Return whether commands are permitted."""
        return self.rig.now >= self._permitted_at and not self.acting('withhold')

    def _stall(self, duration: float) -> None:
        """Let the loop stall; stalls may interrupt the control."""
        self.clock.sleep(duration)
        if self._is_late():
            self.causes['blocked'] = np.inf
            self.quiet_since = max(self.quiet_since, self.clock.now())

    def _is_late(self) -> bool:
        """Return whether a tick lasts so long that it may interrupt the control."""
        return self.clock.now() - self.rig.now > 0.8 * self.rig.resolved.joint_states_timeout

    def _sense(self) -> None:
        """Let the messages of a tick come."""
        rig, arm, now, queues = self.rig, self.arm, self.rig.now, self._queues
        robot_time = now + self._offset
        wild, joint_states = self.acting('wild_effort'), queues['joint_states'].messages
        if not self.acting('frozen'):
            rig.q[:], rig.qd[:] = arm.q, arm.qd
            rig.effort = arm.gravity() if self._has_efforts or wild else None
            if rig.effort is not None and arm.command is not None:
                rig.effort[self.joints] = arm.command
        if rig.effort is not None and wild:
            event = self._present['wild_effort']
            rig.effort[event.joint % arm.q.size] = event.one_of(5000.0, -5000.0, 1e300, 300.0)
        if self.acting('false_publisher'):
            stamp = robot_time - 0.4 * rig.period
            joint_states.append(joint_state(
                stamp, rig.model.joint_names, self.false_position, 0.0 * arm.q, rig.effort
            ))
        if not self.acting('lost'):
            joint_states += self._joint_states(robot_time)
        if self.acting('bad_joint_states'):
            joint_states.append(self._bad.joint_state(robot_time, rig.q, rig.qd))
        if self.acting('bad_wrenches'):
            name = ('wrist', 'free')[self._present['bad_wrenches'].joint % 2]
            queues[name].messages.append(self._bad.wrench(now))
        if self.acting('bad_imus'):
            queues['imu'].messages.append(self._bad.imu(now))
        if self.acting('bad_efforts'):
            queues['efforts'].messages.append(self._bad.effort(now, self._names))
        if not self.acting('silent'):
            self._sense_environment(now)
        if self.acting('add'):
            effort = np.full(len(self._names), self._present['add'].one_of(2.0, 20.0))
            queues['efforts'].messages.append(joint_state(now, self._names, effort=effort))

    def _sense_environment(self, now: float) -> None:
        names, a = self.rig.model.link_names, self.shaking * np.sin(60.0 * now)
        if self.controller.base is not None:
            w = 1.0 if self.first == 'true' else None
            message = imu(now, names[0], 0.3 * a, (a, 0.0, 9.81), w)
            self._queues['imu'].messages.append(message)
        force = 10.0 * self.acting('push') + 50.0 * self.acting('tare') * np.sin(20.0 * now)
        for name in self.controller.wrenches.sensors:
            self._queues[name].messages.append(wrench(now, names[-1], (0.0, 0.0, force)))

    def _joint_states(self, stamp: float) -> list[bytes]:
        """Return the joint states of this tick: one message, or another form of the same."""
        rig, joints = self.rig, self.joints
        q, qd = rig.q.copy(), rig.qd.copy()
        if self._sample_is_first and self.first != 'true':
            q[:] = 0.0 if self.first == 'zeros' else 50.0
        self._sample_is_first = False
        others = rig.states.uncommanded
        for prefix, chosen in (('', joints), ('other_', others)):
            for kind, dq, dqd in (('not_finite', np.nan, 0), ('jump', 1, 0), ('too_fast', 0, 40)):
                if self.acting(prefix + kind) and chosen.size:
                    joint = chosen[self._present[prefix + kind].joint % chosen.size]
                    q[joint], qd[joint] = q[joint] + dq, qd[joint] + dqd
        silent = self.acting('other_silent')
        groups = [joints if silent else np.arange(q.size)]
        if self.acting('forms'):
            form = self._present['forms']
            order = self._rng.permutation(groups[0])
            groups = np.array_split(order, (1, 2, order.size)[form.size % 3])
            stamp *= form.joint % 2  # none
        names = rig.model.joint_names
        return [
            joint_state(
                stamp, [names[k] for k in group], q[group], qd[group],
                None if rig.effort is None else rig.effort[group],
            )
            for group in groups
        ]
