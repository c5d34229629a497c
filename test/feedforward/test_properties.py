# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Whatever comes in, in whatever order: commands stay finite, complete, limited and without a step.

The rig inspects every command; here are those who drive it: chance, with everything that a control
meets in its life and much that it should not, and Hypothesis, with messages of its own making.
"""

import bisect
from collections import Counter
from collections.abc import Callable, Sequence
import math
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pytest

from rnea_ros import RobotModel
from rnea_ros.feedforward import CONTROLLING, Reason, State
from rnea_ros.feedforward.law import (
    LAWS,
    ControlLaw,
    FrictionModel,
    HardwareCompensation,
    VelocitySource,
)
from rnea_ros.feedforward.settings import (
    AdditionalEffortSettings,
    BaseSensorSettings,
    BaseUse,
    ContactAction,
    ContactSettings,
    FrictionSettings,
    SensorPlacement,
    StaleAction,
    WrenchInputSettings,
)
from rnea_ros.feedforward.trajectory import (
    ErrorCode,
    Goal,
    Trajectory,
    default_tolerances,
)
from rnea_ros.robot import Payload
from support.control.control_rig import (
    Rig,
    free_rules,
    mixed_arm,
    panda_arm,
    setpoint,
    swing,
    two_joint_arm,
)

TICKS = 6_000
AS = {State.DEGRADED: State.ACTIVE, State.READY: State.WAITING}
"""States between which a control goes to and fro."""

ORDER = [state for state in State if state not in AS]
"""A control goes through its states in this order; FAULT is the other end beside STOPPED."""

OF_THE_NODE = (Reason.SECOND_PUBLISHER, Reason.SECOND_CONTROLLER, Reason.COMMANDS_WITHHELD)
"""Flags that the node raises."""

BAD_VALUES = (math.nan, math.inf, -math.inf)

SAMPLES_IN_A_TICK = np.cumsum([0.1, 0.8]).tolist()
KINDS_OF_SAMPLE = np.cumsum([0.6, 0.15, 0.09] + [0.16 / 9.0] * 8).tolist()
KINDS_OF_WRENCH = np.cumsum([0.9] + [0.02] * 4).tolist()
KINDS_OF_IMU = np.cumsum([0.86] + [0.02] * 6).tolist()
"""Probability of a number up to this one; the last has the rest."""


class Chance:
    """
    Lives of controls, one after the other, with everything drawn at random.

    :param seed: of all of it
    """

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self._adder = np.random.default_rng(seed + 1)
        self.seen: set[State | Reason] = set()
        self.stalls: Counter[Reason] = Counter()
        self.steps = 0
        self._goal: Goal | None = None
        self.rig = self._new_rig()
        self._frozen_until = -math.inf
        self._silent_until = {'wrench': -math.inf, 'imu': -math.inf}
        self._clock = 0.0
        self._actions: list[tuple[float, Callable[[], object]]] = [
            (0.010, self._change), (0.020, self._follow_set_point), (0.020, self._follow_swing),
            (0.005, lambda: self.rig.controller.cancel()), (0.003, self._jump_in_time),
            (0.010, self._jump_in_place), (0.001, lambda: self.rig.controller.request_stop()),
            (0.001, self._fail),
            (0.0010, lambda: self.rig.controller.request_fault(Reason.CONTROLLER_JOINTS_CHANGED)),
            (0.0005, self._set_clock), (0.002, self._follow_nonsense),
            (0.0030, self._lose_measure), (0.0050, self._freeze), (0.004, self._change_payloads),
            (0.004, self._change_losses), (0.004, lambda: self.rig.controller.tare()),
            (0.004, self._silence), (0.100, self._permit), (0.001, self._raise_flags),
            (0.005, self._slow_down), (0.004, self._listen), (0.002, self._stall),
            (0.004, self._contradict),
        ]

    def _one_of(self, sums: Sequence[float]) -> int:
        """
        Draw a number.

        :param sums: probability of a number up to this one, for each number
        """
        return bisect.bisect_right(sums, self.rng.random())

    def act(self, number: int) -> None:
        """Let one thing happen, by number; they repeat after the last."""
        self._actions[number % len(self._actions)][1]()

    def live(self, ticks: int, eventful: bool = True) -> None:
        """
        Run controls, a new one where one has ended.

        :param ticks: how many
        :param eventful: whether chance lets things happen in between
        """
        after_end = 0
        chances = np.array([chance for chance, _ in self._actions]) * eventful
        for _ in range(ticks):
            for number in np.flatnonzero(self.rng.random(len(chances)) < chances):
                self.act(int(number))
            self._tick()
            after_end += self.rig.state() in (State.FAULT, State.STOPPED)
            if after_end > 50:
                self.rig, after_end = self._new_rig(), 0

    def _new_rig(self) -> Rig:
        rng = self.rng
        model = (panda_arm, mixed_arm, two_joint_arm)[rng.integers(3)]()
        joints = rng.permutation(model.joint_names)[: rng.integers(1, model.nv + 1)]

        def one_of(*values: float) -> float:
            return float(rng.choice(values))

        rig = Rig(
            model, start=one_of(0.0, 1e3, 1e6), differentiate_velocity=bool(rng.random() < 0.3),
            joints=tuple(joints.tolist()), rate=one_of(100.0, 500.0, 1000.0), mode=self._mode(),
            kp=(rng.uniform(0.0, 200.0),), kd=(rng.uniform(0.0, 20.0),),
            effort_limits=(one_of(1.0, 12.0, 80.0),),
            effort_rate_limit=(one_of(0.0, 30.0, 3000.0),), ramp_duration=one_of(0.0, 0.05, 0.2),
            hold_duration=one_of(0.0, 0.1, 1.0), joint_states_timeout=one_of(0.0, 0.02),
            stale_action=list(StaleAction)[int(rng.random() < 0.2)],
            payloads=self._payloads(model),
            hardware_compensates=tuple(one for one in HardwareCompensation if rng.random() < 0.2),
            wrench_inputs=self._sensors(model),
            base_sensor=BaseSensorSettings(
                use=list(BaseUse)[rng.integers(2)], timeout=0.05, fade=0.1
            ),
            velocity_limit_factor=one_of(0.0, 2.0), contact=self._contact(),
            additional_effort=AdditionalEffortSettings(
                (float(self._adder.choice([0.0, 5.0])),), timeout=0.02, fade=0.01
            ),
        )
        rig.q[:] = rng.uniform(-2.0, 2.0, model.nv)
        if rng.random() < 0.5:
            rig.effort = rng.uniform(-100.0, 100.0, model.nv)
        rig.controller.permitted = bool(rng.random() < 0.5)
        return rig

    def _contact(self) -> ContactSettings:
        action = list(ContactAction)[self.rng.integers(len(ContactAction))]
        return ContactSettings(action, threshold=(float(self.rng.choice([0.0, 5.0, 50.0])),))

    def _listen(self) -> None:
        """Add or remove a listener of external efforts, and change the reaction."""
        self.rig.controller.publish_external_effort(bool(self.rng.random() < 0.5))
        self.rig.change(contact=self._contact())

    def _mode(self) -> type[ControlLaw]:
        return list(LAWS.values())[self.rng.integers(len(LAWS))]

    def _tick(self) -> None:
        rig, rng = self.rig, self.rng
        before, returns = rig.state(), rig.controller.stalls.counts
        rig.wait(float(rng.uniform(0.9, 1.1)))
        if self.steps > self._frozen_until:
            rig.qd = np.clip(rig.qd + rng.normal(scale=0.05, size=rig.model.nv), -2.0, 2.0)
            rig.q += rig.qd * rig.period
        for _ in range(self._one_of(SAMPLES_IN_A_TICK)):
            self._sample()
        self._sense()
        self._add()
        command = rig.step()
        self.steps += 1

        stages = [ORDER.index(AS.get(state, state)) for state in (before, rig.state())]
        returned = rig.controller.stalls.counts - returns
        self.stalls += returned
        if returned:
            assert before is State.HOLDING
            assert rig.state() in (*CONTROLLING, State.HOLDING)  # not finite at once
        else:
            assert stages == sorted(stages) or rig.state() is State.STOPPED
        if command is not None and before is State.FAULT:
            assert not command.any()
        if command is not None and rng.random() < 0.05:
            terms = rig.controller.terms()
            assert all(term.shape == command.shape for term in vars(terms).values())
            limits = rig.settings.additional_effort.limits
            assert (np.abs(terms.additional) <= limits).all()
        self.seen |= {rig.state(), *rig.controller.flags, *rig.states.rejections}
        self.seen |= set(rig.controller.additional_effort.rejections)
        base, wrenches = rig.controller.environment.base, rig.controller.environment.wrenches
        assert base is not None
        self.seen |= {*base.imu.rejections, *wrenches.rejections}
        self.seen |= set(wrenches.tare_rejections.values())
        if rig.states.clock_steps:
            self.seen.add(Reason.CLOCK_STEP)
        if rig.controller.reason is not None:
            self.seen.add(rig.controller.reason)
        if self._goal is not None and self._goal.result is not None:
            if self._goal.result.code is not ErrorCode.SUCCESSFUL:
                self.seen.add(Reason(self._goal.result.text.split(':')[0]))
            self._goal = None

    def _sample(self) -> None:
        """Let joint states come: good ones mostly, in one of the ways in which they do."""
        rig, rng = self.rig, self.rng
        names = rng.permutation(rig.model.joint_names).tolist()
        bad = rng.random(rig.model.nv)
        bad[rng.integers(rig.model.nv)] = BAD_VALUES[rng.integers(len(BAD_VALUES))]
        feeds: list[Callable[[], object]] = [
            lambda: rig.feed(stamp=rig.now + self._clock),
            lambda: rig.feed(names=names, stamp=0.0),
            lambda: [rig.feed(names=[name]) for name in names],
            lambda: rig.feed(q=bad), lambda: rig.feed(qd=bad), lambda: rig.feed(effort=bad),
            lambda: rig.feed(q=bad[1:]),
            lambda: rig.feed(names=[*names, names[0]], q=[0.0] * (rig.model.nv + 1)),
            lambda: rig.feed(qd=None),
            lambda: rig.feed(stamp=rig.now - float(rng.exponential(0.01))),
            lambda: rig.feed(stamp=rig.now + float(rng.exponential(0.02))),
            lambda: rig.feed(names=['a', 'b'], q=(math.nan, 1.0), qd=(1.0, 1.0)),
        ]
        feeds[self._one_of(KINDS_OF_SAMPLE)]()

    def _sensors(self, model: RobotModel) -> tuple[WrenchInputSettings, ...]:
        """Return a sensor at a fixed place, and one that is where its readings say."""
        tip = model.link_names[-1]
        placements = list(SensorPlacement)
        return (
            WrenchInputSettings(
                'fixed', '/one', tip, placement=placements[self.rng.integers(2)], timeout=0.05,
                fade=0.1, tare_duration=0.1, max_force=500.0, max_torque=100.0,
            ),
            WrenchInputSettings('free', '/two', timeout=0.05, fade=0.1, tare_duration=0.1),
        )

    def _payloads(self, model: RobotModel) -> tuple[Payload, ...]:
        count = int(self.rng.integers(3))
        return tuple(
            Payload(
                str(self.rng.choice(model.link_names)), float(self.rng.uniform(0.0, 5.0)),
                tuple(self.rng.normal(scale=0.1, size=3).tolist()),
            )
            for _ in range(count)
        )

    def _sense(self) -> None:
        """Feed sensors and IMU, mostly with valid readings, each in one of its possible forms."""
        rig, rng = self.rig, self.rng
        names = rig.model.link_names
        base = rig.controller.environment.base
        assert base is not None
        for name in ('fixed', 'free'):
            if self.steps < self._silent_until['wrench'] or rng.random() < 0.2:
                continue
            force, torque = (rng.normal(scale=size, size=3) for size in (20.0, 2.0))
            frame, stamp = names[-1], rig.now
            kind = self._one_of(KINDS_OF_WRENCH)
            if kind == 1:
                force[0] = float(rng.choice([*BAD_VALUES, 1e6]))
            elif kind == 2:
                frame = 'nowhere'
            elif kind == 3:
                frame = names[-2]
            elif kind == 4:
                stamp = rig.now - float(rng.exponential(0.01))
            elif kind == 5:
                stamp = rig.now + float(rng.exponential(0.02))
            rig.controller.environment.wrenches.sensors[name].monitor.take_sample(
                frame, force, torque, stamp=stamp, clock=rig.now, received=rig.now
            )
        if self.steps < self._silent_until['imu'] or rng.random() < 0.2:
            return
        felt = rng.normal((0.0, 0.0, 9.81), 0.5).tolist()
        turn = rng.normal(scale=0.2, size=3).tolist()
        orientation = (0.0, 0.0, 0.0, 1.0) if rng.random() < 0.5 else None
        frame, kind = names[0], self._one_of(KINDS_OF_IMU)
        gyroscope, accelerometer = turn, felt
        if kind == 1:
            accelerometer = [0.0, 0.0, 0.0]
        elif kind == 2:
            accelerometer = [float(rng.choice([*BAD_VALUES, 1e3])), 0.0, 9.81]
        elif kind == 3:
            gyroscope = [100.0, 0.0, 0.0]
        elif kind == 4:
            orientation = (0.0, 0.0, 0.0, 2.0)
        elif kind == 5:
            frame = str(rng.choice([names[-1], 'nowhere']))
        imu = (orientation, gyroscope, None if kind == 6 else accelerometer)
        base.imu.take_sample(frame, *imu, stamp=rig.now, clock=rig.now, received=rig.now)

    def _add(self) -> None:
        """Let another program send efforts: for some joints, some of them too high or wrong."""
        rng, joints = self._adder, self.rig.settings.joints
        if rng.random() < 0.5:
            return
        names = rng.choice([*joints, 'tail'], rng.integers(3), replace=False).tolist()
        effort = rng.normal(scale=5.0, size=len(names) + (rng.random() < 0.05))
        effort[rng.random(effort.size) < 0.05] = BAD_VALUES[rng.integers(len(BAD_VALUES))]
        stamp = self.rig.now + float(rng.choice([0.0, 0.0, 0.0, -0.01, 0.02]))
        self.rig.controller.additional_effort.take_sample(
            tuple(names), effort, stamp=stamp, clock=self.rig.now, received=self.rig.now
        )

    def _permit(self) -> None:
        self.rig.controller.permitted = True

    def _raise_flags(self) -> None:
        flags = [flag for flag in OF_THE_NODE if self.rng.random() < 0.5]
        self.rig.controller.outside_flags = frozenset(flags)

    def _slow_down(self) -> None:
        factor = self.rng.choice([0.0, self.rng.random(), 1.0])
        self.rig.controller.speed_scaling.set_target(float(factor))

    def _silence(self) -> None:
        """Let sensors or IMU be silent for a while."""
        which = str(self.rng.choice(list(self._silent_until)))
        self._silent_until[which] = self.steps + 200

    def _change_payloads(self) -> None:
        duration = float(self.rng.choice([0.0, 0.05, 0.5]))
        payloads = self._payloads(self.rig.model)
        self.rig.change(payloads=payloads, payload_blend_duration=duration)

    def _change_losses(self) -> None:
        rng = self.rng
        friction = FrictionSettings(
            model=list(FrictionModel)[rng.integers(3)],
            viscous=(rng.uniform(0.0, 20.0),), coulomb=(rng.uniform(0.0, 20.0),),
            load=(rng.uniform(0.0, 1.0),), smoothing_velocity=(float(rng.choice([1e-6, 0.1])),),
            velocity=list(VelocitySource)[rng.integers(2)],
        )
        self.rig.change(friction=friction, armature=(rng.uniform(0.0, 2.0),))

    def _change(self) -> None:
        rng = self.rng
        self.rig.change(
            mode=self._mode(), kp=(float(rng.choice([0.0, 100.0, 1e6], p=[0.3, 0.5, 0.2])),),
            kd=(float(rng.choice([0.0, 10.0, 1e5])),),
            compensate_coriolis=bool(rng.random() < 0.5),
        )

    def _start(self) -> float | None:
        """Return when a motion is to start: with the next tick, some time ago, or in a while."""
        return None if self.rng.random() < 0.5 else self.rig.now + float(self.rng.normal())

    def _follow_set_point(self) -> None:
        q, qd = self.rng.normal(size=(2, len(self.rig.settings.joints)))
        self.rig.controller.follow(setpoint(self.rig.settings.joints, q, qd), self._start())

    def _follow_swing(self) -> None:
        joints = self.rig.settings.joints
        start, end = self.rng.normal(size=(2, len(joints)))
        duration = 0.01 + 2.0 * float(self.rng.random()) ** 3  # many end before what comes next
        motion = swing(joints, start, end, duration)
        self._goal = self._goal_of(motion)
        self.rig.controller.follow(motion, self._start(), self._goal)

    def _goal_of(self, motion: Trajectory) -> Goal:
        """Return a goal with limits that are met, or missed."""
        joints, rng = motion.joint_names, self.rng
        rules = free_rules(joints, continuous=rng.random(len(joints)) < 0.5)
        path, goal = (dict.fromkeys(joints, float(rng.choice([0.0, 0.1, 10.0]))) for _ in range(2))
        limits = default_tolerances(joints, path, goal, 0.0, float(rng.choice([0.0, 0.01])))
        return Goal(motion, limits, rules)

    def _follow_nonsense(self) -> None:
        """Ask for an unchecked motion of the wrong size."""
        self.rig.controller.follow(setpoint(range(50), np.zeros(50)), None)  # type: ignore[arg-type]

    def _jump_in_time(self) -> None:
        """Be kept from running for 5, 50 or 500 ms."""
        self.rig.now += float(self.rng.choice([0.005, 0.05, 0.5]))

    def _stall(self) -> None:
        """Stall joint states or the loop, then only let samples come, so that it may return."""
        if self.rng.random() < 0.5:
            self.rig.now += 0.15
        else:
            for _ in range(round(0.15 / self.rig.period)):
                self.rig.wait()
                self.rig.step()
        self.live(round(0.15 / self.rig.period), eventful=False)

    def _contradict(self) -> None:
        """Let another robot's joint states come between those of this one."""
        for _ in range(30):
            self.rig.feed(q=self.rig.q + 0.5, stamp=0.0)
            self._tick()

    def _jump_in_place(self) -> None:
        self.rig.q[self.rng.integers(self.rig.model.nv)] += float(self.rng.normal())

    def _lose_measure(self) -> None:
        """Measure numbers too big to compute with."""
        values = (self.rig.q, self.rig.qd)[self.rng.integers(2)]
        values[self.rng.integers(self.rig.model.nv)] = self.rng.choice([1e300, -1e308])

    def _freeze(self) -> None:
        """Measure the same for a while."""
        self._frozen_until = self.steps + 150

    def _set_clock(self) -> None:
        """Set the clock of the robot's stamps."""
        self._clock = float(self.rng.normal())

    def _fail(self) -> None:
        self.rig.controller.enter_fault(Reason.CLOCK_RESET, self.rig.now)


EVERYTHING = {*State, *Reason} - {
    Reason.MALFORMED, Reason.TOO_LARGE, Reason.SPEED_OUT_OF_RANGE, Reason.OUTPUT_NOT_FINITE
}
"""
Only bytes are malformed or too many, only a trajectory controller states a speed; the bounds of
measured values leave no effort that is not finite.
"""


STALLS = {Reason.JOINT_STATES_STALE, Reason.TICK_BLOCKED}
"""Stalls after which a control has returned."""


@pytest.mark.timeout(900)
def test_random_messages_break_no_rule_of_commands() -> None:
    chance = Chance(seed=2)
    with np.errstate(all='ignore'):  # warnings are errors in these tests, not in use
        chance.live(TICKS)
        # Chance is not to be idle: every state is lived through, and every reason given.
        while not (
            chance.seen == EVERYTHING and set(chance.stalls) >= STALLS
        ) and chance.steps < 6 * TICKS:
            chance.live(TICKS // 10)
    assert chance.seen == EVERYTHING
    assert set(chance.stalls) >= STALLS


EVENTS = st.lists(st.tuples(st.integers(0, 22), st.integers(1, 40)), min_size=10, max_size=40)
"""Numbers of what happens, and for how many ticks then nothing but that goes on."""


def test_random_orders_of_events_break_no_rule_of_commands() -> None:
    steps = 0

    @settings(max_examples=20)
    @given(seed=st.integers(0, 2**32 - 1), events=EVENTS)
    def live(seed: int, events: list[tuple[int, int]]) -> None:
        nonlocal steps
        chance = Chance(seed)
        for number, ticks in events:
            chance.act(number)
            chance.live(ticks, eventful=False)
        steps += chance.steps

    with np.errstate(all='ignore'):
        live()
    assert steps >= 5_000


MEASURES = st.one_of(
    st.floats(-10.0, 10.0), st.floats(allow_nan=True, allow_infinity=True, width=64)
)
SAMPLES = st.fixed_dictionaries({
    'names': st.lists(st.sampled_from(['shoulder', 'elbow', 'other', '']), max_size=4),
    'q': st.lists(MEASURES, max_size=4), 'qd': st.lists(MEASURES, max_size=4),
    'effort': st.lists(MEASURES, max_size=4),
    'stamp': st.one_of(st.just(0.0), st.floats(0.0, 2.0), st.floats(-1e12, 1e12)),
})
GOOD = st.builds(lambda q: {'q': q}, st.tuples(st.floats(-3.0, 3.0), st.floats(-3.0, 3.0)))


@settings(max_examples=150)
@given(
    differentiate=st.booleans(), mode=st.sampled_from(list(LAWS.values())),
    samples=st.lists(st.one_of(GOOD, SAMPLES), max_size=40),
)
def test_random_joint_states_break_no_rule_of_commands(
    differentiate: bool, mode: type[ControlLaw], samples: list[dict[str, Any]]
) -> None:
    rig = Rig(
        two_joint_arm(), start=1.0, mode=mode, kp=(50.0,), kd=(5.0,),
        differentiate_velocity=differentiate, ramp_duration=0.01,
    )
    rig.controller.follow(setpoint(rig.model.joint_names, (0.5, 0.5), 1.0), None)
    with np.errstate(all='ignore'):
        for sample in samples:
            rig.wait()
            before = rig.states.position.copy()
            names = sample.pop('names', rig.model.joint_names)
            stamp = sample.pop('stamp', rig.now)
            reason = rig.states.take_sample(
                names, *(np.array(sample.get(key, (0.0, 0.0))) for key in ('q', 'qd', 'effort')),
                stamp=stamp, clock=rig.now, received=rig.now,
            )
            if reason is not None:
                np.testing.assert_array_equal(rig.states.position, before)
            came = [name not in rig.states.missing() for name in rig.model.joint_names]
            assert np.isfinite(rig.states.position[came]).all()
            rig.step()
