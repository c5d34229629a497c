# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Drives the control of a moving arm through random events, and judges every tick.

From test/: ``python -m support.control.random_driver --runs 200 --seed 0`` prints for each rule of
:mod:`.random_rules` in how many ticks it was judged, in how many runs it was broken, and the seeds
of the first; with ``--show`` the plan of one seed and the rules that it broke.
"""

import argparse
from collections import Counter, defaultdict
from contextlib import suppress
from functools import cache
import sys
import time
from typing import Any, NoReturn

import numpy as np

from rnea_ros import RobotModel
from rnea_ros.errors import InputError
from rnea_ros.feedforward import Reason, State
from rnea_ros.feedforward.law import LAWS, ComputedTorque, HardwareCompensation
from rnea_ros.feedforward.settings import WrenchInputSettings
from rnea_ros.feedforward.trajectory import (
    Deceleration,
    Goal,
    Setpoint,
    TrajectoryError,
    TrajectoryPoint,
    TrajectoryRequest,
    compile_trajectory,
    default_tolerances,
)
from rnea_ros.node.parameters import complete_values, joint_rules
from rnea_ros.robot import Payload
from support.control.control_rig import Array, Rig
from support.control.moving_arm import MovingArm
from support.control.random_plan import EVENTS, FAULTS, MOTIONS, Event, Plan, Robot, plan_of_seed
from support.control.random_rules import RULES, RULES_OF_RUNS, Rules

AFTER_END = 20
"""Ticks after the end of the control, which are judged too."""


@cache
def loaded(robot: Robot, mass: float) -> RobotModel:
    """Return a robot with a payload on its last link, kg."""
    model = robot.model()
    return model.with_payload(model.link_names[-1], mass) if mass else model


class Driver:
    """
    One run.

    :ivar joints: indices of the commanded joints
    :ivar first: which kind of joint state comes first
    :ivar shaking: amplitude of the acceleration that the IMU measures, m/s^2
    :ivar happened: the kinds of all events so far
    :ivar causes: kinds of events that may have ended the control, with their durations, s
    :ivar quiet_since: when the last event, or its effect, ends, s
    :ivar goals: all goals, each with the results that it had, one after the other
    :ivar false_position: of the false publisher of joint states, shape (n,)
    """

    def __init__(self, plan: Plan) -> None:
        values = plan.values()
        self.robot: Robot = values.pop('robot')
        model = loaded(self.robot, 0.0)
        q = np.array(self.robot.pose) + values.pop('pose')
        self.first, shaking = values.pop('first'), values.pop('shaking')
        self.shaking = shaking if values['base_sensor'] else 0.0
        friction, self._has_efforts = values.pop('arm_friction'), values.pop('measures_effort')
        if values.pop('sensor'):
            sensor = WrenchInputSettings('wrist', '/wrist', model.link_names[-1])
            values['wrench_inputs'] = (sensor,)
        self.rig = rig = Rig(
            model, q=q, velocity_limit_factor=2.0, joints=model.joint_names[: self.robot.joints],
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
        self._limits = joint_rules(complete_values(parameters), model, rig.resolved)
        self._events = list(plan.events)
        self._present: dict[str, Event] = {}
        self._until: defaultdict[str, float] = defaultdict(lambda: -np.inf)
        self._sample_is_first, self._brakes_open = True, False
        self.happened: list[str] = []
        self.causes: dict[str, float] = {}
        self.goals: list[tuple[Goal, list[object]]] = []
        self.quiet_since = self._stream_began = rig.now
        self.false_position, self._stream_start = q, q[self.joints]
        self.rules = Rules(self)

    def _law(self, mode: Any) -> dict[str, Any]:
        if mode is ComputedTorque:
            return {'mode': mode, 'kp': (100.0,), 'kd': (20.0,)}
        return {'mode': mode, 'kp': self.robot.kp, 'kd': self.robot.kd}

    def run(self) -> dict[str, str]:
        """Run to the end; return the broken rules, each with what broke it first."""
        rig, waited, after_end, due = self.rig, 0, 0, list[Event]()
        try:
            while after_end < AFTER_END and not self._is_over():
                while self._events and waited >= self._events[0].after:
                    waited = 0
                    due.append(self._events.pop(0))
                for event in [*due]:  # motions wait until they are followed
                    if event.kind not in MOTIONS or self._follows:
                        due.remove(event)
                        self._happen(event)
                waited += 1
                self._tick()
                after_end += rig.state() in (State.FAULT, State.STOPPED)
        except AssertionError as error:  # of the rig, which inspects every command
            self.rules.broken['commands'] = f'at {rig.now - 1000.0:.3f} s: {error}'
        else:
            self.rules.judge_end()
        return self.rules.broken

    def _is_over(self) -> bool:
        """Return whether nothing goes on that may end by itself."""
        pursued = any(goal.result is None for goal, _ in self.goals)
        rests = not pursued and self.rig.state() in (State.ACTIVE, State.DEGRADED)
        calm = self.rig.now - self.quiet_since
        return not self._events and calm > (0.7 if rests else self.rules.longest_wait)

    @property
    def _follows(self) -> bool:
        """Whether motions are followed, and the arm is free to move."""
        return self.controller.following and self.arm.command is not None

    def acting(self, *kinds: str) -> bool:
        """Return whether the effect of an event of one of some kinds lasts."""
        now = self.rig.now
        return now < self.quiet_since and any(now < self._until[kind] for kind in kinds)

    def _tick(self) -> None:
        rig, arm, controller = self.rig, self.arm, self.controller
        rig.wait()
        arm.step(rig.period)
        if self.acting('blocked'):
            return
        controller.permitted = not self.acting('withhold')
        arm.travel *= self.acting('withhold')
        arm.push *= self.acting('push')
        vars(controller.environment.robot).pop('gravity', None)
        if self.acting('raise_error'):
            vars(controller.environment.robot)['gravity'] = _fail
        self._sense()
        if self._follows and self.acting('stream', 'controller_stream'):
            self._stream()
        command = rig.step()
        self._brakes_open |= rig.state() not in (State.WAITING, State.READY, State.RAMPING)
        if command is not None and self._brakes_open:
            arm.command = command
        elif controller.withheld:
            arm.command, arm.qd = None, 0.0 * arm.qd
        if (np.abs(arm.qd[self.joints]) > 1.9 * self._limits.velocity_limits).any():
            self.causes['arm too fast'] = np.inf
        for goal, results in self.goals:
            if goal.result is not None and goal.result not in results:
                results.append(goal.result)
        self.rules.judge(command)

    def _sense(self) -> None:
        """Let the messages of a tick come."""
        rig, arm, now = self.rig, self.arm, self.rig.now
        when: dict[str, Any] = {'stamp': now, 'clock': now, 'received': now}
        wild = self.acting('wild_effort')
        if not self.acting('frozen'):
            rig.q[:], rig.qd[:] = arm.q, arm.qd
            rig.effort = arm.gravity() if self._has_efforts or wild else None
            if rig.effort is not None and arm.command is not None:
                rig.effort[self.joints] = arm.command
        if rig.effort is not None and wild:
            event = self._present['wild_effort']
            rig.effort[event.joint % arm.q.size] = event.one_of(5000.0, -5000.0, 1e300, 300.0)
        if self.acting('false_publisher'):
            rig.feed(q=self.false_position, qd=0.0 * arm.q, stamp=now - 0.4 * rig.period)
        if not self.acting('lost'):
            rig.feed(**self._sample())
        environment, names = self.controller.environment, rig.model.link_names
        if environment.base is not None:
            a = self.shaking * np.sin(60.0 * now)
            motion = ([0.3 * a, 0.0, 0.0], [a, 0.0, 9.81])
            environment.base.imu.take_sample(names[0], None, *motion, **when)
        for sensor in environment.wrenches.sensors.values():
            force = np.array([0.0, 0.0, 10.0 * self.acting('push')])
            sensor.monitor.take_sample(names[-1], force, np.zeros(3), **when)
        if self.acting('add'):
            effort = np.full(len(self._names), 2.0)
            self.controller.additional_effort.take_sample(self._names, effort, **when)

    def _sample(self) -> dict[str, Any]:
        """Return this tick's joint state."""
        rig, m = self.rig, len(self._names)
        q, qd = rig.q.copy(), rig.qd.copy()
        if self._sample_is_first and self.first != 'true':
            q[:] = 0.0 if self.first == 'zeros' else 50.0
        self._sample_is_first = False
        for prefix, joints in (('', np.arange(m)), ('other_', np.arange(m, q.size))):
            for kind, dq, dqd in (('not_finite', np.nan, 0), ('jump', 1, 0), ('too_fast', 0, 40)):
                if self.acting(prefix + kind) and joints.size:
                    joint = joints[self._present[prefix + kind].joint % joints.size]
                    q[joint], qd[joint] = q[joint] + dq, qd[joint] + dqd
        if self.acting('other_silent'):
            effort = None if rig.effort is None else rig.effort[:m]
            return {'names': self._names, 'q': q[:m], 'qd': qd[:m], 'effort': effort}
        return {'q': q, 'qd': qd}

    def _happen(self, event: Event) -> None:
        """Let an event happen; faults that last longer than tolerated may end the control."""
        kind, rig, controller = event.kind, self.rig, self.controller
        lasts = event.one_of(*EVENTS[kind])
        self._present[kind], self._until[kind] = event, rig.now + lasts
        self.quiet_since = max(self.quiet_since, rig.now + lasts)
        self.happened.append(kind)
        at_once = kind in ('stop', 'fault', 'raise_error')
        if kind in FAULTS and (at_once or lasts > 0.8 * rig.resolved.joint_states_timeout):
            self.causes[kind] = lasts
        if kind == 'stop':
            controller.request_stop()
        elif kind == 'fault':
            controller.request_fault(Reason.CONTROLLER_JOINTS_CHANGED)
        elif kind == 'false_publisher':
            self.false_position = self.arm.q + 0.5
        elif kind == 'withhold':
            self.arm.travel[self.joints] = event.one_of(0.0, 0.6, 0.6, -0.6)
            if self.acting('frozen'):  # an arm at rest that is moved meanwhile jumps
                self.causes[kind] = lasts
        elif kind == 'push':
            self.arm.push[event.joint % self.arm.q.size] = 6.0
        elif kind == 'tare':
            controller.tare()
        elif kind == 'speed':
            controller.speed_scaling.set_target(event.one_of(0.5, 1.0))
        elif kind == 'cancel':
            controller.cancel()
        elif kind == 'decelerate':
            slowly = np.full(len(self._names), 5.0)
            controller.cancel(None, Deceleration(slowly, self._limits.lower, self._limits.upper))
        elif kind in MOTIONS:
            self._request(event)
        else:
            with suppress(InputError):
                self._change(event)

    def _change(self, event: Event) -> None:
        rig = self.rig
        if event.kind == 'mode':
            rig.change(**self._law([*LAWS.values()][event.joint % len(LAWS)]))
        elif event.kind == 'gains':
            rig.change(kp=tuple(event.one_of(0.5, 1.0) * np.array(rig.settings.kp)))
        elif event.kind == 'damp':
            rig.change(damping=(event.one_of(0.0, 3.0, 10.0),))
        elif event.kind == 'payload':
            mass = event.one_of(0.5, 0.0)
            payloads = (Payload(rig.model.link_names[-1], mass),) if mass else ()
            rig.change(payloads=payloads, payload_blend_duration=0.1)
            self.arm.load(loaded(self.robot, mass))

    def _request(self, event: Event) -> None:
        """Request a motion as the node does, or begin a stream."""
        controller, rules, now = self.controller, self._limits, self.rig.now
        q, ahead, handover = controller.hold_position(now), now, None
        self._stream_start, self._stream_began = q, now
        if event.kind in ('stream', 'controller_stream'):
            return
        way, wild = event.one_of(0.4, -0.4), np.full(q.size, event.one_of(1e4, -1e4, 1e200))
        if event.kind == 'wild_acceleration':
            point = TrajectoryPoint(0.0, q, 0.0 * q, wild)
        elif event.kind == 'wild_point_effort':
            point = TrajectoryPoint(0.0, q, efforts=wild)
        else:
            end = np.clip(q + way * (-1.0) ** np.arange(q.size), rules.lower, rules.upper)
            point = TrajectoryPoint(event.one_of(*EVENTS[event.kind]), end)
        if event.kind == 'join':
            ahead = now + 3.0 * self.rig.period
            handover = controller.handover(ahead)
        position, velocity = controller.measured()
        try:
            motion = compile_trajectory(
                TrajectoryRequest.of_points(self._names, [point]), rules,
                now=now if handover is None else ahead, position=position, velocity=velocity,
                desired=controller.reference_at(now), handover=handover,
            )
        except TrajectoryError:
            self._until[event.kind] = -np.inf
            return
        goal = None
        if point.time and event.joint % 2 == 0:
            near = dict.fromkeys(self._names, 0.3)
            goal = Goal(motion, default_tolerances(self._names, near, near, 0.0, 0.3), rules)
            self.goals.append((goal, []))
        controller.follow(motion, motion.start_time, goal)

    def _stream(self) -> None:
        """Send the set-point of a tick: all joints swing by 0.2 rad."""
        phase, ones = 5.0 * (self.rig.now - self._stream_began), np.ones(len(self._names))
        topic = self.acting('stream')
        setpoint = Setpoint(
            None, self._names, self._stream_start + 0.1 * (1.0 - np.cos(phase)),
            0.5 * np.sin(phase) * ones, 2.5 * np.cos(phase) * ones, from_controller=not topic,
        )
        if topic:
            self.controller.follow(setpoint, None)
        else:
            self.controller.set_reference(setpoint)


def _fail(_: Array) -> NoReturn:
    raise RuntimeError('of the random driver')


def run_plan(plan: Plan, judged: Counter[str] | None = None) -> dict[str, str]:
    """
    Return the broken rules of a run, each with what broke it; rejected settings break none.

    :param judged: counts the ticks in which each rule applied
    """
    with np.errstate(all='ignore'):  # warnings are errors in tests, not in use
        try:
            driver = Driver(plan)
        except InputError:
            return {}
        broken = driver.run()
    if judged is not None:
        judged.update(driver.rules.judged)
    return broken


def main() -> None:
    """Print a table of the rules, or one run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--runs', type=int, default=200)
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--show', action='store_true', help='show the run of the seed')
    args = parser.parse_args()
    if args.show:
        plan = plan_of_seed(args.seed)
        print(plan.choices, *plan.events, *run_plan(plan).items(), sep='\n')
        return
    seeds, judged = defaultdict[str, list[int]](list), Counter[str]()
    first: dict[str, str] = {}
    began = time.perf_counter()
    for seed in range(args.seed, args.seed + args.runs):
        for rule, problem in run_plan(plan_of_seed(seed), judged).items():
            seeds[rule].append(seed)
            first.setdefault(rule, problem)
    print(f'{args.runs} runs in {time.perf_counter() - began:.0f} s; rule, ticks, runs, seeds')
    for rule in (*RULES_OF_RUNS, *RULES):
        found = seeds[rule]
        print(f'{rule:20} {judged[rule]:7} {len(found):5}', found[:5], first.get(rule, '')[:160])
    sys.exit(bool(first))


if __name__ == '__main__':
    main()
