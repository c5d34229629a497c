# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Drives the control of a moving arm through random events, and judges every tick.

From test/: ``python -m support.control.random_driver --runs 200 --seed 0`` prints for each rule of
:mod:`.random_rules` how many runs broke it, and the seed of the first. ``--show`` prints the plan
of one seed and what it broke.
"""

import argparse
from collections import defaultdict
from functools import cache
import time
from typing import Any, NoReturn

import numpy as np

from rnea_ros import RobotModel
from rnea_ros.errors import InputError, RequestRejectedError
from rnea_ros.feedforward import CONTROLLING, Reason, State
from rnea_ros.feedforward.law import LAWS, ComputedTorque
from rnea_ros.feedforward.settings import WrenchInputSettings
from rnea_ros.feedforward.trajectory import (
    Deceleration,
    Goal,
    JointRules,
    Setpoint,
    TrajectoryError,
    TrajectoryPoint,
    TrajectoryRequest,
    compile_trajectory,
    default_tolerances,
)
from rnea_ros.robot import Payload
from support.control.control_rig import Array, Rig
from support.control.moving_arm import MovingArm
from support.control.random_plan import FAULTS, ROBOTS, Event, Plan, random_plan
from support.control.random_rules import RULES, Rules

PAYLOAD = 0.5
"""Mass of the payload, kg."""

AFTER_END = 20
"""Ticks after the end of the control, which are judged too."""


@cache
def loaded(robot: str, mass: float) -> RobotModel:
    """Return a robot with a payload on its last link."""
    model = ROBOTS[robot].model()
    return model.with_payload(model.link_names[-1], mass) if mass else model


class Driver:
    """
    One run.

    :ivar causes: what happened that may end the control
    :ivar happened: every event so far
    :ivar last_event: when the last event, or its effect, began or ended, s
    :ivar goals: all goals with the results that they had, one after the other
    """

    def __init__(self, plan: Plan) -> None:
        choices: dict[str, Any] = dict(plan.choices)
        self.robot = choices.pop('robot')
        robot, model = ROBOTS[self.robot], loaded(self.robot, 0.0)
        pose = np.array(robot.pose) + 0.5 * choices.pop('pose')
        friction, self.has_efforts = choices.pop('arm_friction'), choices.pop('motor_efforts')
        self.first, self.has_sensor = choices.pop('first'), choices.pop('sensor')
        self.plan_first, self._shaking = self.first, choices.pop('shaking')
        if self.has_sensor:
            sensor = WrenchInputSettings('wrist', '/wrist', model.link_names[-1])
            choices['wrench_inputs'] = (sensor,)
        self.rig = Rig(
            model, q=pose, velocity_limit_factor=2.0, joints=model.joint_names[: robot.joints],
            **(choices | self._gains(choices['mode'])),
        )
        compensates = [part.value for part in choices['hardware_compensates']]
        self.joints = self.rig.resolved.joint_indices
        self.arm = MovingArm(
            model, self.joints, pose, friction, ('gravity' in compensates, 'friction' in compensates)
        )
        self.controller, self.events = self.rig.controller, list(plan.events)
        limits = (
            values[self.joints] for values in (
                model.position_lower, model.position_upper, model.continuous, model.velocity_limits
            )
        )
        self.trajectory_rules = JointRules(
            self.rig.settings.joints, *limits, allow_trajectory_replacement=True,
            use_trajectory_effort=True,
        )
        self.causes: list[str] = []
        self.happened: list[str] = []
        self.goals: list[tuple[Goal, list[object]]] = []
        self.last_event = self.rig.now
        self._until: defaultdict[str, float] = defaultdict(lambda: -np.inf)
        self._event: dict[str, Event] = {}
        self.false_position, self._origin = pose, pose[self.joints]
        self._began = 0.0
        self.rules = Rules(self)

    def _gains(self, mode: Any) -> dict[str, Any]:
        robot = ROBOTS[self.robot]
        if mode is ComputedTorque:
            return {'mode': mode, 'kp': (100.0,), 'kd': (20.0,)}
        return {'mode': mode, 'kp': robot.kp, 'kd': robot.kd}

    # --- time --------------------------------------------------------------------------------

    def run(self) -> dict[str, str]:
        """Run to the end; return the broken rules, each with what broke it first."""
        rig, waited, after_end = self.rig, 0, 0
        deadline = np.inf
        while rig.now < deadline and after_end < AFTER_END:
            while self.events and waited >= self.events[0].after:
                event, waited = self.events.pop(0), 0
                self._happen(event)
            waited += 1
            if not self.events and deadline == np.inf:
                settled = max(self._until.values(), default=0.0)
                deadline = max(rig.now, settled) + self.rules.longest_wait
            try:
                self._tick()
            except AssertionError as error:
                self.rules.broken.setdefault('commands', str(error))
                break
            after_end += rig.state() in (State.FAULT, State.STOPPED)
            if rig.now > deadline - self.rules.longest_wait + 1.0 and self._settled:
                break
        self.rules.judge_end()
        return self.rules.broken

    @property
    def _settled(self) -> bool:
        """Whether nothing goes on that would end by itself."""
        pursued = any(goal.result is None for goal, _ in self.goals)
        return not pursued and self.rig.state() in (State.ACTIVE, State.DEGRADED, State.WAITING)

    def acting(self, effect: str) -> bool:
        """Return whether an effect lasts."""
        return self.rig.now < self._until[effect]

    def _tick(self) -> None:
        rig, arm, permitted = self.rig, self.arm, not self.acting('withhold')
        rig.wait()
        arm.step(rig.period)
        if self.acting('blocked'):
            return
        if permitted and not self.controller.permitted:
            arm.travel[:] = 0.0
        self.controller.permitted = permitted
        if not self.acting('push'):
            arm.push[:] = 0.0
        self._sense()
        self._move()
        command = rig.step()
        if command is not None:
            arm.command = command
        elif self.controller.withheld and arm.command is not None:
            arm.command, arm.qd = None, np.zeros_like(arm.qd)
        if any(abs(arm.qd[self.joints]) > 1.9 * rig.model.velocity_limits[self.joints]):
            self.causes.append('arm too fast')
        for goal, results in self.goals:
            if goal.result is not None and goal.result not in results:
                results.append(goal.result)
        self.rules.judge(command)

    def _happen(self, event: Event) -> None:
        """Let an event happen; a fault that lasts longer than tolerated may end the control."""
        kind, now = event.kind, self.rig.now
        self.happened.append(kind)
        before = self._until[kind]
        getattr(self, f'_{kind}', self._last)(event)
        lasts = max(self._until[kind] - now, 0.0)
        tolerated = 0.8 * self.rig.resolved.joint_states_timeout
        if kind in ('stop', 'fault', 'raise_error') or (kind in FAULTS and lasts > tolerated):
            self.causes.append(kind)
        self.last_event = max(self.last_event, now + lasts, before)

    # --- what the control measures -------------------------------------------------------------

    def _sense(self) -> None:
        rig, arm, now = self.rig, self.arm, self.rig.now
        if not self.acting('frozen'):
            rig.q[:], rig.qd[:] = arm.q, arm.qd
        if self.has_efforts or self.acting('wild_effort'):
            rig.effort = arm.gravity()
            if arm.command is not None:
                rig.effort[self.joints] = arm.command
            if self.acting('wild_effort'):
                event = self._event['wild_effort']
                rig.effort[event.joint % rig.model.nv] = event.one_of(5000.0, -5000.0, 1e300)
        if self.acting('false_publisher'):
            rig.feed(q=self.false_position, qd=0.0 * arm.q, stamp=now - 0.4 * rig.period)
        if not self.acting('lost'):
            rig.feed(**self._sample())
        base = self.controller.environment.base
        if base is not None:
            shake = self._shaking * np.sin(40.0 * now)
            base.imu.take_sample(
                rig.model.link_names[0], None, [0.3 * shake, 0.0, 0.0], [shake, 0.0, 9.81],
                stamp=now, clock=now, received=now,
            )
        if self.has_sensor:
            force = np.array([0.0, 0.0, 10.0 * self.acting('push')])
            self.controller.environment.wrenches.sensors['wrist'].monitor.take_sample(
                rig.model.link_names[-1], force, np.zeros(3), stamp=now, clock=now, received=now
            )
        if self.acting('add'):
            self.controller.additional_effort.take_sample(
                rig.settings.joints, np.full(len(self.joints), 2.0), stamp=now, clock=now,
                received=now,
            )

    def _sample(self) -> dict[str, Any]:
        """Return what differs from the truth in this tick's joint state."""
        rig, n = self.rig, self.rig.model.nv
        q, qd = rig.q.copy(), rig.qd.copy()
        if self.first != 'true':
            q[:], self.first = 0.0 if self.first == 'zeros' else 50.0, 'true'
        for prefix, indices in (('', self.joints), ('other_', np.arange(len(self.joints), n))):
            for kind in ('not_finite', 'jump', 'too_fast'):
                if self.acting(prefix + kind) and indices.size:
                    joint = indices[self._event[prefix + kind].joint % indices.size]
                    q[joint] += {'not_finite': np.nan, 'jump': 1.0, 'too_fast': 0.0}[kind]
                    qd[joint] += 40.0 * (kind == 'too_fast')
        if self.acting('other_silent'):
            m = len(self.joints)
            effort = None if rig.effort is None else rig.effort[:m]
            return {'names': rig.settings.joints, 'q': q[:m], 'qd': qd[:m], 'effort': effort}
        return {'q': q, 'qd': qd}

    # --- events ----------------------------------------------------------------------------------

    def _last(self, event: Event, *durations: float) -> None:
        """Let the effect of an event's kind last for a while."""
        self._event[event.kind] = event
        duration = event.one_of(*(durations or (0.01, 0.05, 0.4, 1.5)))
        self._until[event.kind] = self.rig.now + duration

    def _blocked(self, event: Event) -> None:
        self._last(event, 0.005, 0.05, 0.5)

    def _false_publisher(self, event: Event) -> None:
        self._last(event, 1.5)
        self.false_position = self.arm.q + 0.5

    def _withhold(self, event: Event) -> None:
        self._last(event, self.rig.period, 0.1, 0.8)
        self.arm.travel[self.joints] = 0.6 * (-1.0) ** event.joint

    def _push(self, event: Event) -> None:
        self._last(event, 0.05, 0.3)
        self.arm.push[event.joint % self.rig.model.nv] = 6.0

    def _raise_error(self, event: Event) -> None:
        self._last(event, self.rig.period, 10.0 * self.rig.period)

    def _stop(self, _: Event) -> None:
        self.controller.request_stop()

    def _fault(self, _: Event) -> None:
        self.controller.request_fault(Reason.CONTROLLER_JOINTS_CHANGED)

    def _mode(self, event: Event) -> None:
        self.rig.change(**self._gains(list(LAWS.values())[event.joint % len(LAWS)]))

    def _payload(self, event: Event) -> None:
        mass = PAYLOAD * (event.size < 0.7)
        payloads = (Payload(self.rig.model.link_names[-1], mass),) if mass else ()
        self.rig.change(payloads=payloads, payload_blend_duration=0.1)
        self.arm.load(loaded(self.robot, mass))

    def _damp(self, event: Event) -> None:
        self.rig.change(damping=(event.one_of(0.0, 3.0, 10.0),))

    def _tare(self, _: Event) -> None:
        self.controller.tare()

    def _speed(self, event: Event) -> None:
        self.controller.speed_scaling.set_target(event.one_of(0.5, 1.0))

    # --- motions -----------------------------------------------------------------------------------

    @property
    def accepts_motions(self) -> bool:
        """Whether the node would pass a motion on."""
        return self.controller.following and self.controller.permitted

    def _follow(self, *points: TrajectoryPoint, joined: bool = False, goal: bool = False) -> None:
        """Request a motion as the node does; its checks may reject it."""
        controller, now = self.controller, self.rig.now
        if not self.accepts_motions:
            return
        ahead = now + 3.0 * self.rig.period
        handover = controller.handover(ahead) if joined else None
        position, velocity = controller.measured()
        try:
            motion = compile_trajectory(
                TrajectoryRequest.of_points(self.rig.settings.joints, points),
                self.trajectory_rules, now=now if handover is None else ahead, position=position,
                velocity=velocity, desired=controller.reference_at(now), handover=handover,
            )
        except (TrajectoryError, RequestRejectedError):
            return
        pursued = None
        if goal:
            near = dict.fromkeys(self.rig.settings.joints, 0.3)
            limits = default_tolerances(self.rig.settings.joints, near, near, 0.0, 0.3)
            pursued = Goal(motion, limits, self.trajectory_rules)
            self.goals.append((pursued, []))
        controller.follow(motion, motion.start_time, pursued)

    def _trajectory(self, event: Event, joined: bool = False) -> None:
        start = self.controller.hold_position(self.rig.now)
        way = np.resize((0.1, 0.3, -0.2, -0.1), len(start)) * event.one_of(1.0, -1.0)
        end = np.clip(start + way, self.trajectory_rules.lower, self.trajectory_rules.upper)
        point = TrajectoryPoint(event.one_of(0.4, 0.8, 0.5), end)
        self._follow(point, joined=joined, goal=event.joint % 2 == 0)

    def _join(self, event: Event) -> None:
        self._trajectory(event, joined=True)

    def _cancel(self, _: Event) -> None:
        self.controller.cancel()

    def _decelerate(self, _: Event) -> None:
        rules = self.trajectory_rules
        limits = Deceleration(np.full(len(self.joints), 5.0), rules.lower, rules.upper)
        self.controller.cancel(None, limits)

    def _wild_acceleration(self, event: Event) -> None:
        q, zero = self.controller.hold_position(self.rig.now), np.zeros(len(self.joints))
        self._last(event, 0.3)
        self._follow(TrajectoryPoint(0.0, q, zero, zero + event.one_of(1e4, -1e4, 1e200)))

    def _wild_point_effort(self, event: Event) -> None:
        q = self.controller.hold_position(self.rig.now)
        self._last(event, 0.3)
        self._follow(TrajectoryPoint(0.0, q, efforts=0.0 * q + event.one_of(1e4, -1e4, 1e200)))

    def _stream(self, event: Event) -> None:
        self._last(event, 0.3, 0.8)
        self._origin, self._began = self.controller.hold_position(self.rig.now), self.rig.now

    _controller_stream = _stream

    def _move(self) -> None:
        """Send the set-points of streams, which swing all joints by 0.2 rad; raise errors."""
        robot = self.controller.environment.robot
        if self.acting('raise_error'):
            vars(robot)['gravity'] = _fail
        else:
            vars(robot).pop('gravity', None)
        if not self.accepts_motions or not (
            self.acting('stream') or self.acting('controller_stream')
        ):
            return
        phase = 5.0 * (self.rig.now - self._began)
        s, c = np.sin(phase), np.cos(phase)
        q = self._origin + 0.1 * (1.0 - c)
        qd, qdd = np.full((2, len(q)), ((0.5 * s,), (2.5 * c,)))
        by_controller = not self.acting('stream')
        point = Setpoint(None, self.rig.settings.joints, q, qd, qdd, from_controller=by_controller)
        if by_controller:
            self.controller.set_reference(point)
        else:
            self.controller.follow(point, None)


def _fail(*_: Array) -> NoReturn:
    raise RuntimeError('of the model')


def broken_rules(plan: Plan) -> dict[str, str]:
    """Run a plan; return the broken rules. Settings that are rejected break none."""
    with np.errstate(all='ignore'):
        try:
            driver = Driver(plan)
        except InputError:
            return {}
        return driver.run()


def main() -> None:
    """Print a table of the broken rules."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--runs', type=int, default=200)
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--show', action='store_true', help='show the plan of the seed')
    args = parser.parse_args()
    if args.show:
        plan = random_plan(args.seed)
        print(*plan.choices.items(), *plan.events, *broken_rules(plan).items(), sep='\n')
        return
    seeds: dict[str, list[int]] = {rule: [] for rule in ('commands', 'goals', *RULES)}
    messages: dict[str, str] = {}
    began = time.perf_counter()
    for seed in range(args.seed, args.seed + args.runs):
        for rule, message in broken_rules(random_plan(seed)).items():
            seeds[rule].append(seed)
            messages.setdefault(rule, message)
    print(f'{args.runs} runs in {time.perf_counter() - began:.0f} s')
    for rule, found in seeds.items():
        print(f'{rule:20} {len(found):5}', found[:5], messages.get(rule, '')[:150])


if __name__ == '__main__':
    main()
