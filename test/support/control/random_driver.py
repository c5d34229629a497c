# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Drives the node's control loop of a moving arm through random events, and judges every tick.

From test/: ``python -m support.control.random_driver --runs 200 --seed 0`` prints the seed,
the plan and the broken rules of each run that breaks one of :mod:`.random_rules`.
"""

import argparse
from collections import Counter
from contextlib import suppress
import sys
from types import SimpleNamespace
from typing import Any, NoReturn

import numpy as np

from rnea_ros.errors import InputError
from rnea_ros.feedforward import Reason, State
from rnea_ros.feedforward.laws import LAWS, Gravity
from rnea_ros.feedforward.motion import (
    Deceleration,
    ErrorCode,
    Goal,
    MotionLimits,
    MotionState,
    Setpoint,
    Shaping,
    StreamSettings,
    StreamShaper,
    TrajectoryError,
    TrajectoryPoint,
    TrajectoryRequest,
    compile_trajectory,
    default_tolerances,
)
from rnea_ros.feedforward.settings import FrictionSettings
from rnea_ros.node.inputs import Inputs
from rnea_ros.robot import Payload
from support.control.control_rig import Array, setpoint
from support.control.random_plan import EVENTS, FAULTS, MOTIONS, Event, Plan, plan_of_seed
from support.control.random_robot import START, RandomRobot, loaded
from support.control.random_rules import Rules
from support.control.virtual_loop import run_loop

AFTER_END = 20
"""Ticks after a fault, which are judged too, before the stop that ends every run."""

LONGEST = 60.0
"""How long a run may last, s."""

FLAGS = (Reason.SECOND_PUBLISHER, Reason.SECOND_CONTROLLER, Reason.COMMANDS_WITHHELD)


class Driver(RandomRobot):
    """One run: what happens to the robot and its control, tick by tick."""

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan)
        self.rules = Rules(self)
        urdf = self.rig.model.acceleration_limits[self.joints]
        self.policy_limits = StreamSettings().limits(
            MotionLimits(
                self._limits.velocity_limits, urdf, np.full(urdf.size, np.inf),
                self._limits.lower, self._limits.upper,
            ),
            self._limits.acceleration_limits,
        )
        self._policy_rng = np.random.default_rng(plan.seed)
        self._policy_points, self._policy_due, self.motion_requested_at = 0, 0.0, 0.0

    def run(self) -> dict[str, str]:
        """Run to the end; return the broken rules, each with what broke it first."""
        controller, queues, clock = self.controller, self._queues, self.clock.of_messages
        sensors = {name: queues[name] for name in controller.wrenches.sensors}
        topics: Any = SimpleNamespace(
            joint_states=queues['joint_states'], wrenches=sensors,
            imu=queues['imu'] if controller.base else None, additional_effort=queues['efforts'],
        )
        inputs = Inputs(controller, self.rig.states, topics, clock)
        readers = [
            self._begin_tick, inputs.read_joint_states, *inputs.message_readers, self._end_reading
        ]
        why = run_loop(controller, self, readers, self.clock, self.stalls)
        if why:
            self.rules.broken['last_command'] = why
        self.rules.judge_last()
        self._see_rejections()
        self.seen.add(controller.state)
        return self.rules.broken

    def _is_over(self) -> bool:
        """Return whether nothing goes on that may end by itself."""
        pursued = any(goal.result is None for goal, _ in self.goals)
        rests = not pursued and self.rig.state() in (State.ACTIVE, State.DEGRADED)
        calm = self.rig.now - self._events_end
        return not self._events and calm > (0.4 if rests else self.rules.longest_wait)

    def _begin_tick(self, now: float) -> None:
        """Let events happen and messages come."""
        rig, arm, controller = self.rig, self.arm, self.controller
        rig.now, self._ticking = now, True
        while self._events and self._waited >= self._events[0].after:
            self._waited = 0
            self._due.append(self._events.pop(0))
        for event in [*self._due]:  # motions wait until they are followed
            if event.kind not in MOTIONS or self._follows:
                self._due.remove(event)
                self._happen(event)
        self._waited += 1
        arm.travel *= self.acting('withhold')
        arm.push *= self.acting('push')
        vars(controller.robot).pop('gravity', None)
        if self.acting('raise_error'):
            vars(controller.robot)['gravity'] = _fail
        controller.outside_flags = frozenset(FLAGS) if self.acting('flags') else frozenset()
        self._sense()

    def _end_reading(self, now: float) -> None:
        if self._follows and self.acting('stream', 'controller_stream'):
            self._stream()
        if self._follows and self.acting('policy') and now >= self._policy_due:
            self._stream_policy(now)
        self.rig.begin_tick()

    def send_command(self, command: Array) -> None:
        """Take a command, as the arm does once its brakes are open."""
        now = self.clock.now()
        self._since_sent, self._sent_at = now - self._sent_at, now
        age, timeout = now - self.rig.now, self.rig.resolved.joint_states_timeout
        if self.stalls is None and age > timeout + self.rig.period:
            self.rules.broken.setdefault('commands', f'sent {age:.3f} s after its tick')
        self._command = command.copy()
        self.sent.append(self._command)
        self._brakes_open |= self.rig.state() not in (State.WAITING, State.READY, State.RAMPING)
        if self._brakes_open:
            self.arm.command = self._command

    def send_extras(self, *_: object) -> None:
        """Need nothing but commands."""

    def end_tick(self) -> None:
        """Judge the tick that ends."""
        rig, arm, controller = self.rig, self.arm, self.controller
        if not self._ticking:  # before the first
            return
        command, self._command = self._command, None
        try:  # the rig inspects every command
            if command is not None or controller.withheld or not self._is_late():
                rig.inspect(command, self._since_sent)
        except AssertionError as error:
            self.rules.broken.setdefault('commands', f'at {rig.now - START:.3f} s: {error}')
        if controller.withheld:
            arm.command, arm.qd = None, 0.0 * arm.qd
        if (np.abs(arm.qd[self.joints]) > 1.9 * self._limits.velocity_limits).any():
            self.causes['arm too fast'] = np.inf
        for goal, results in self.goals:
            if goal.result is not None and goal.result not in results:
                results.append(goal.result)
                if goal.result.code is not ErrorCode.SUCCESSFUL:
                    self.seen.add(Reason(goal.result.text.split(':')[0]))
        self.seen |= {rig.state(), *controller.flags, *filter(None, [controller.reason])}
        self.rules.judge(command)
        self._after_end += rig.state() is State.FAULT
        over = self._after_end > AFTER_END or self._is_over()
        if over and not controller.snapshot.stop_requested:
            self.rules.judge_end()
            self._happen(Event('stop', 0, 0, 0))
        if rig.now > START + LONGEST:
            raise AssertionError(f'the run does not end: {self.rules.broken}')

    def _see_rejections(self) -> None:
        """Register the reasons of all rejections of this run."""
        rig, controller = self.rig, self.controller
        base, wrenches = controller.base, controller.wrenches
        self.seen.update(
            rig.states.rejections, controller.additional_effort.rejections, wrenches.rejections,
            wrenches.tare_rejections.values(), base.imu.rejections if base is not None else (),
            [Reason.CLOCK_STEP] if rig.states.clock_steps else (),
        )

    def _happen(self, event: Event) -> None:
        """Let an event happen; faults that last longer than tolerated may end the control."""
        kind, rig, controller = event.kind, self.rig, self.controller
        lasts = event.one_of(*EVENTS[kind])
        self._present[kind], self._until[kind] = event, rig.now + lasts
        self._events_end = max(self._events_end, rig.now + lasts)
        self.quiet_since = max(self.quiet_since, self._events_end)
        self.happened.append(kind)
        at_once = kind in ('stop', 'fault', 'raise_error', 'nonsense')
        if kind in FAULTS and (at_once or lasts > 0.8 * rig.resolved.joint_states_timeout):
            self.causes[kind] = lasts
        if kind == 'stop':
            controller.request_stop()
        elif kind == 'fault':
            reasons = (Reason.CONTROLLER_JOINTS_CHANGED, Reason.CLOCK_RESET)
            controller.request_fault(reasons[event.size % 2])
        elif kind == 'blocked':
            if self.stalls is None:
                self.clock.sleep(lasts)
            else:
                self.stalls.plan(1 + 37 * event.joint, lasts)
        elif kind == 'nonsense':  # an unchecked motion of the wrong size
            controller.follow(setpoint(range(50), np.zeros(50)), None)  # type: ignore[arg-type]
        elif kind == 'false_publisher':
            self.false_position = self.arm.q + 0.5
        elif kind == 'withhold':
            self.arm.travel[self.joints] = event.one_of(0.0, 0.6, 0.6, -0.6)
            if self.acting('frozen'):  # an arm at rest that is moved meanwhile jumps
                self.causes[kind] = lasts
        elif kind == 'push':
            self.arm.push[event.joint % self.arm.q.size] = 6.0
        elif kind == 'clock_step':
            self._offset += event.one_of(0.5, -0.5, 1e4)
        elif kind == 'tare':
            controller.tare()
        elif kind == 'listen':
            controller.publish_external_effort(event.joint % 2 == 0)
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
            law = Gravity if event.size % 2 else [*LAWS.values()][event.joint % len(LAWS)]
            rig.change(**self._law(law))
        elif event.kind == 'gains':
            rig.change(kp=tuple(event.one_of(0.5, 1.0) * np.array(rig.settings.kp)))
        elif event.kind == 'damp':
            rig.change(damping=(event.one_of(0.0, 3.0, 10.0),))
        elif event.kind == 'losses':
            share = event.one_of(0.0, 0.5)
            friction, factor = FrictionSettings(viscous=(share,)), (1.0 - 0.2 * share,)
            rig.change(friction=friction, armature=(share,), gravity_factor=factor)
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
        self.motion_requested_at = now
        if event.kind in ('stream', 'controller_stream'):
            return
        if event.kind == 'policy':
            settings = StreamSettings(Shaping.RUCKIG, frequency=event.one_of(0.0, 15.0))
            self._in_chunks = settings.frequency > 0.0
            self._shaper = StreamShaper(settings, self._limits, self.policy_limits)
            self._policy_points, self._policy_due = 0, now
            return
        way, wild = event.one_of(0.4, -0.4), np.full(q.size, event.one_of(1e4, -1e4, 1e200))
        if event.kind == 'wild_acceleration':
            point = TrajectoryPoint(0.0, q, 0.0 * q, wild)
        elif event.kind == 'wild_point_effort':
            point = TrajectoryPoint(0.0, q, efforts=wild)
        else:
            target = np.clip(q + way * (-1.0) ** np.arange(q.size), rules.lower, rules.upper)
            point = TrajectoryPoint(event.one_of(*EVENTS[event.kind]), target)
        if event.kind == 'join':
            ahead = now + 3.0 * self.rig.period
            handover = controller.motions.handover(ahead)
        position, velocity = controller.measured()
        try:
            motion = compile_trajectory(
                TrajectoryRequest.of_points(self._names, [point]), rules,
                now=now if handover is None else ahead, position=position, velocity=velocity,
                desired=controller.motions.reference_at(now), handover=handover,
            )
        except TrajectoryError:
            self._until[event.kind] = -np.inf
            return
        goal = None
        if point.time and event.joint % 4:
            tolerances = ((0.3, 0.3), (1e-4, 0.3), (0.0, 1e-5))[event.size % 3]
            path, end = (dict.fromkeys(self._names, each) for each in tolerances)
            goal = Goal(motion, default_tolerances(self._names, path, end, 0.0, 0.3), rules)
            self.goals.append((goal, []))
        controller.follow(motion, motion.start_time, goal)

    def _stream(self) -> None:
        """Send the set-point of a tick: all joints swing by 0.2 rad."""
        phase, ones = 5.0 * (self.rig.now - self._stream_began), np.ones(len(self._names))
        topic = self.acting('stream')
        target = Setpoint(
            None, self._names, self._stream_start + 0.1 * (1.0 - np.cos(phase)),
            0.5 * np.sin(phase) * ones, 2.5 * np.cos(phase) * ones, from_controller=not topic,
        )
        if topic:
            self.controller.follow(target, None)
        else:
            self.controller.set_reference(target)


    def _stream_policy(self, now: float) -> None:
        """Send positions as a policy does, at 15 Hz with jitter, sometimes far away, or chunks."""
        rng, controller, period = self._policy_rng, self.controller, self.rig.period
        count = 8 if self._in_chunks else 1
        times = (self._policy_points + np.arange(count)) / 15.0
        away = rng.choice((0.0, 1.0), p=(0.95, 0.05)) * rng.uniform(-1.0, 1.0)
        rows = self._stream_start + away + 0.3 * np.sin(3.0 * times)[:, np.newaxis]
        points = [TrajectoryPoint(0.0, row + np.zeros(len(self._names))) for row in rows]
        request = TrajectoryRequest.of_points(self._names, points)
        self._policy_points += (count + 1) // 2
        self._policy_due = now + (count + 1) // 2 * rng.uniform(0.7, 1.3) / 15.0
        position, velocity = controller.measured()
        here = MotionState.at_rest(position)._replace(velocity=velocity)
        begin, motions = now + 3.0 * period, controller.motions
        self._shaper.take(request, now, now, position, controller.hold_position(now))
        handover = motions.handover(begin)
        motion = self._shaper.follow(begin, handover or motions.reference_at(begin) or here)
        controller.follow(motion, None if handover else begin)


def _fail(_: Array) -> NoReturn:
    raise RuntimeError('of the random driver')


def run_plan(
    plan: Plan, judged: Counter[str] | None = None, seen: set[State | Reason] | None = None
) -> dict[str, str]:
    """
    Return the broken rules of a run, each with what broke it; rejected settings break none.

    :param judged: counts the ticks in which each rule applied
    :param seen: gets all states, and all reasons of ends, flags and rejections
    """
    with np.errstate(all='ignore'):  # warnings are errors in tests, not in use
        try:
            driver = Driver(plan)
        except InputError:
            return {}
        broken = driver.run()
    if judged is not None:
        judged.update(driver.rules.judged)
    if seen is not None:
        seen |= driver.seen
    return broken


def main() -> None:
    """Print each run that breaks a rule, and in how many ticks each rule was judged."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--runs', type=int, default=200)
    parser.add_argument('--seed', type=int, default=0)
    args = parser.parse_args()
    judged, failed = Counter[str](), 0
    for seed in range(args.seed, args.seed + args.runs):
        plan = plan_of_seed(seed)
        broken = run_plan(plan, judged)
        failed += bool(broken)
        if broken:
            print(plan.seed, plan.choices, *plan.events, *broken.items(), sep='\n')
    print(f'{failed} of {args.runs} runs broke a rule; {dict(judged)}')
    sys.exit(failed > 0)


if __name__ == '__main__':
    main()
