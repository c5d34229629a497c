# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""When leader and follower are coupled, and what each gets; efforts give the leader no energy."""

from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
import pytest

from rnea_ros import InputError
from rnea_ros.feedforward import JointStateMonitor
from rnea_ros.feedforward.motion import JointRules
from rnea_ros.messages import JointStateSample
from rnea_ros.parameters import from_values
from rnea_ros.teleoperation import (
    PARAMETERS,
    Coupling,
    CouplingState,
    FeedbackSettings,
    FeedbackSource,
    TeleoperationSettings,
    Uncoupled,
    follower_rules,
)
from rnea_ros.teleoperation.coupling import ALIGNED, FADE_OUT, PAUSE
from rnea_ros.teleoperation.leader import LeaderEffort, LeaderMotion
from support.control.control_rig import panda_arm
from support.models.robots import ROOT

Array = NDArray[np.float64]

JOINTS = ('shoulder', 'elbow')
PERIOD, ACCELERATION = 0.002, 10.0
SPEEDS, REACH, LIMITS = np.array([2.0, 3.0]), np.array([1.5, 2.0]), np.array([10.0, 5.0])
NOTHING = np.empty(0)


class Arms:
    """A leader that tests move, and a follower that goes along; every command is inspected."""

    def __init__(self, **settings: Any) -> None:
        rules = JointRules(JOINTS, -REACH, REACH, np.zeros(2, dtype=bool), SPEEDS)
        feedback = FeedbackSettings(FeedbackSource.EXTERNAL_EFFORT, limits=tuple(LIMITS))
        given: dict[str, Any] = {'joints': JOINTS, 'feedback': feedback} | settings
        parameters = TeleoperationSettings(max_acceleration=ACCELERATION, **given)
        self.coupling = Coupling(parameters, rules, lambda _: np.eye(2))
        self.now = self.last = 50.0
        self.q, self.qd = np.array([0.3, -0.4]), np.zeros(2)
        self.follower = np.array([0.1, 0.2])
        self.external = np.array([-2.0, 1.0])
        self.silent: set[str] = set()
        self.pressed = True if parameters.dead_man_topic else None
        self.setpoint: Array | None = None
        self.effort: Any = None

    @property
    def state(self) -> CouplingState:
        return self.coupling.state

    def feed(self) -> None:
        """Let the messages of this tick come."""
        coupling, now = self.coupling, self.now
        for name, arm, joints, q, qd in (
            ('leader', coupling.leader, coupling.settings.joints_of_leader, self.q, self.qd),
            ('follower', coupling.follower, JOINTS, self.follower, np.zeros(2)),
        ):
            if name not in self.silent:
                arm.states.take_sample(
                    joints, q.copy(), qd.copy(), NOTHING, stamp=0.0, clock=now, received=now
                )
            if f'{name}_node' not in self.silent:
                arm.take_effort(JointStateSample(joints, NOTHING, NOTHING, self.external), now)
        if self.pressed is not None:
            coupling.set_dead_man(self.pressed, now)

    def tick(self, *, fed: bool = True) -> None:
        self.now += PERIOD
        if fed:
            self.feed()
        elapsed, self.last, before = self.now - self.last, self.now, self.setpoint
        motion, self.effort = self.coupling.step(self.now)
        self.setpoint = None if motion is None else motion.position
        if motion is not None:
            assert all(np.isfinite(values).all() for values in motion)
            assert (np.abs(motion.position) <= REACH + 1e-12).all()
            assert (np.abs(motion.velocity) <= SPEEDS + 1e-9).all()
            if before is not None:
                assert (np.abs(motion.position - before) <= SPEEDS * elapsed + 1e-12).all()
            self.follower = motion.position.copy()
        if self.effort is not None:
            assert np.isfinite(self.effort).all()
            assert (np.abs(self.effort) <= LIMITS + 1e-12).all()

    def run(self, duration: float) -> None:
        for _ in range(round(duration / PERIOD)):
            self.tick()

    def couple(self) -> None:
        while self.state is not CouplingState.COUPLED:
            self.tick()
            assert self.now < 65.0, self.coupling.reason
        self.run(1.0)

    def sway(self, duration: float) -> None:
        """Move the leader there and back."""
        start, began, way = self.q.copy(), self.now, np.array([0.5, -0.5])
        for _ in range(round(duration / PERIOD)):
            phase = np.pi * (self.now + PERIOD - began) / duration
            self.q = start + duration / np.pi * np.sin(phase) * way
            self.qd = np.cos(phase) * way
            self.tick()


def test_the_follower_aligns_slowly_before_it_is_coupled() -> None:
    arms = Arms(align_speed=0.2)
    positions, began = [arms.follower.copy()], arms.now
    while arms.state is not CouplingState.COUPLED:
        arms.tick()
        assert arms.effort is None
        positions.append(arms.follower.copy())
    assert arms.now - began > PAUSE + (0.6 - ALIGNED) / 0.2
    speed = np.abs(np.diff(positions, axis=0)) / PERIOD
    assert speed.max() <= 0.2 + 1e-9
    assert np.abs(np.diff(speed, axis=0)).max() / PERIOD <= ACCELERATION + 1e-6


def test_a_coupled_follower_gets_the_motion_of_the_mapped_joints() -> None:
    scale, offset = np.array([-0.5, 2.0]), np.array([0.1, 0.0])
    arms = Arms(leader_joints=('b', 'a'), scale=tuple(scale), offset=tuple(offset))
    arms.couple()
    arms.sway(2.0)
    motion = arms.coupling.setpoints.motion
    np.testing.assert_allclose(motion.position, scale * arms.q + offset, atol=1e-9)
    np.testing.assert_allclose(motion.velocity, scale * arms.qd, atol=2e-3)
    arms.qd = np.zeros(2)
    arms.run(0.1)
    np.testing.assert_allclose(arms.effort, scale * arms.external, rtol=1e-6)


def test_a_spring_and_a_damper_may_couple_the_arms() -> None:
    feedback = FeedbackSettings(
        FeedbackSource.COUPLING, limits=tuple(LIMITS), stiffness=(50.0, 20.0), damping=(4.0, 2.0),
        scale=(0.5,), damping_rate=0.0,
    )
    arms = Arms(feedback=feedback)
    arms.couple()
    np.testing.assert_allclose(arms.effort, 0.0, atol=1e-6)
    stuck, arms.q = arms.follower - 0.05, arms.q + 0.01
    for _ in range(200):
        arms.follower = stuck.copy()
        arms.tick()
    np.testing.assert_allclose(arms.effort, 0.5 * np.array([50.0, 20.0]) * -0.06, rtol=1e-3)


OBSTACLES: dict[Uncoupled, Callable[[Arms], object]] = {
    Uncoupled.LEADER_STALE: lambda arms: arms.silent.add('leader'),
    Uncoupled.FOLLOWER_STALE: lambda arms: arms.silent.add('follower'),
    Uncoupled.LEADER_INACTIVE: lambda arms: arms.silent.add('leader_node'),
    Uncoupled.FOLLOWER_INACTIVE: lambda arms: arms.silent.add('follower_node'),
    Uncoupled.LEADER_JUMP: lambda arms: setattr(arms, 'q', arms.q + 0.5),
    Uncoupled.DEAD_MAN: lambda arms: setattr(arms, 'pressed', False),
    Uncoupled.STOPPED: lambda arms: arms.coupling.stop(),
}


@pytest.mark.parametrize('reason', OBSTACLES, ids=lambda reason: reason.value)
def test_every_obstacle_leaves_a_held_follower_and_a_free_leader(reason: Uncoupled) -> None:
    arms = Arms(dead_man_topic='switch')
    arms.couple()
    arms.sway(0.3)
    OBSTACLES[reason](arms)
    efforts, speeds = [arms.effort], [arms.coupling.setpoints.motion.velocity]
    for _ in range(500):
        arms.tick()
        efforts.append(np.zeros(2) if arms.effort is None else arms.effort)
        speeds.append(arms.coupling.setpoints.motion.velocity)
    assert (arms.state, arms.coupling.reason) == (CouplingState.UNCOUPLED, reason)
    assert not np.any(efforts[101:])  # after 0.2 s
    assert not speeds[-1].any()
    assert arms.coupling.ended == 1
    # No jump: neither of the effort, nor of the speed when the follower brakes.
    assert (np.abs(np.diff(np.array(efforts), axis=0)) <= 3.0 * LIMITS * PERIOD / FADE_OUT).all()
    assert np.abs(np.diff(speeds, axis=0)).max() <= 3.0 * ACCELERATION * PERIOD
    arms.run(2.0 * PAUSE)
    assert arms.setpoint is None  # others may move the follower now


@pytest.mark.parametrize('switch', ['', 'switch'])
def test_the_way_back_is_to_align_again(switch: str) -> None:
    arms = Arms(dead_man_topic=switch)
    arms.couple()
    arms.silent.add('leader_node')
    for _ in range(100):
        arms.q = arms.q + 0.001
        arms.tick()
    arms.silent.clear()
    if switch:
        arms.run(3.0)
        assert arms.state is CouplingState.UNCOUPLED  # a switch that stays pressed is not enough
        arms.pressed = False
        arms.run(0.1)
        arms.pressed = True
    seen = set()
    for _ in range(1000):
        arms.tick()
        seen.add(arms.state)
    assert CouplingState.ALIGNING in seen
    assert arms.state is CouplingState.COUPLED


def test_a_leader_beyond_the_limits_never_leads_the_follower_there() -> None:
    arms = Arms(leader_velocity=50.0)
    arms.couple()
    for target in (np.array([2.5, -3.0]), np.zeros(2)):
        while (np.abs(arms.q - target) > 0.01).any():
            arms.qd = np.clip((target - arms.q) / PERIOD, -8.0, 8.0)
            arms.q = arms.q + PERIOD * arms.qd
            arms.tick()
        assert arms.coupling.setpoints.limited.any()
        arms.qd = np.zeros(2)
        arms.run(2.0)
        np.testing.assert_allclose(arms.follower, np.clip(target, -REACH, REACH), atol=1e-3)
    assert arms.state is CouplingState.COUPLED
    assert not arms.coupling.setpoints.limited.any()


def test_a_follower_that_does_not_follow_is_left_alone() -> None:
    arms = Arms()
    arms.couple()
    stuck = arms.follower.copy()
    arms.qd = np.array([0.0, 1.0])
    for _ in range(700):
        arms.q = arms.q + PERIOD * arms.qd
        arms.tick()
        assert arms.setpoint is None or np.abs(arms.setpoint - stuck).max() <= 0.3 + 1e-9
        arms.follower = stuck.copy()
    assert arms.coupling.reason is Uncoupled.FOLLOWER_BEHIND
    assert arms.coupling.ended == 1


@pytest.mark.parametrize(('names', 'effort', 'word'), [
    (JOINTS, [np.nan, 0.0], 'not_finite'), (('shoulder', 'wrist'), [0.0, 0.0], 'wrong_size'),
])
def test_bad_efforts_are_rejected(names: tuple[str, ...], effort: list[float], word: str) -> None:
    arms = Arms()
    arms.couple()
    sample = JointStateSample(names, NOTHING, NOTHING, np.array(effort))
    for _ in range(5):
        arms.coupling.follower.take_effort(sample, arms.now)
        arms.tick()
    rejected = arms.coupling.follower.rejections
    assert {reason.value: count for reason, count in rejected.items()} == {word: 5}
    np.testing.assert_allclose(arms.effort, arms.external, rtol=1e-6)


@pytest.mark.parametrize('seed', range(2))
def test_whatever_comes_nothing_jumps(seed: int) -> None:
    random = np.random.default_rng(seed)
    arms = Arms(dead_man_topic=('', 'switch')[seed], leader_velocity=20.0)
    arms.couple()
    parts = ('leader', 'follower', 'leader_node', 'follower_node')
    seen = {arms.state}
    for _ in range(8000):
        event = random.integers(400)
        if event == 0:
            arms.q = arms.q + random.normal(0.0, 1.0, 2)
        elif event == 1:
            arms.silent ^= {parts[random.integers(4)]}
        elif event == 2:
            arms.silent.clear()
        elif event == 3 and arms.pressed is not None:
            arms.pressed = bool(random.integers(2))
        elif event == 4:
            arms.external = random.normal(0.0, 30.0, 2)
        elif event == 5:
            arms.now += random.exponential(0.1)
        elif event == 6:
            arms.q = np.array([np.nan, 1e300])[random.permutation(2)]
            arms.tick()
            arms.q = arms.coupling.leader.states.position.copy()
        elif event == 7:
            arms.qd = random.normal(0.0, 4.0, 2)
        arms.qd = arms.qd - 0.5 * PERIOD * (arms.qd + 2.0 * arms.q)
        arms.q = arms.q + PERIOD * arms.qd
        arms.tick(fed=event != 8)
        seen.add(arms.state)
    assert seen == set(CouplingState)
    assert arms.coupling.ended > 3


@pytest.mark.parametrize(('settings', 'parameter'), [
    ({'joints': ('a', 'a')}, 'joints'), ({'leader_joints': ('c',)}, 'leader_joints'),
    ({'scale': (1.0, 1.0, 1.0)}, 'scale'), ({'scale': (0.0,)}, 'scale'), ({'rate': 19.9}, 'rate'),
    ({'feedback': FeedbackSettings(FeedbackSource.COUPLING)}, 'feedback.limits'),
    ({'feedback': FeedbackSettings(FeedbackSource.COUPLING, limits=(1.0,)), 'leader_node': False},
     'feedback.source'),
])
def test_unusable_parameters_are_named(settings: dict[str, Any], parameter: str) -> None:
    with pytest.raises(InputError, match=rf'^{parameter}\b'):
        TeleoperationSettings(**{'joints': ('a', 'b')} | settings).per_joint()


def test_the_shipped_parameters_are_accepted_and_fit_the_panda() -> None:
    yaml = pytest.importorskip('yaml', reason='PyYAML is not installed')
    file = yaml.safe_load((ROOT / 'config/teleoperation.yaml').read_text(encoding='utf-8'))
    given = file['teleoperation']['ros__parameters']
    defaults = {name: declared.default for name, declared in PARAMETERS.items()}
    assert given.keys() <= defaults.keys()
    settings = from_values(TeleoperationSettings, defaults | given).per_joint()
    assert follower_rules(panda_arm(), settings.joints).joint_names == settings.joints


INERTIA = np.diag([0.8, 0.3])


def simulate(delay: float, damping_rate: float, seed: int) -> tuple[list[float], list[float]]:
    """Let a leader swing on a spring that it feels late: energy taken from it, and kinetic, J."""
    feedback = LeaderEffort(
        FeedbackSettings(limits=(50.0, 50.0), cutoff=1000.0, damping_rate=damping_rate)
    )
    random = np.random.default_rng(seed)
    q, qd = np.zeros(2), random.normal(0.0, 0.3, 2)
    stiffness = random.uniform(20.0, 80.0, 2)
    late = deque([np.zeros(2)] * (1 + round(delay / PERIOD)))
    taken, energies, kinetic = 0.0, [], []
    for _ in range(5000):
        late.append(-stiffness * q)
        feedback.update(late.popleft(), qd, INERTIA, 1.0, PERIOD)
        middle = qd + 0.5 * PERIOD * np.linalg.solve(INERTIA, feedback.effort)
        taken -= PERIOD * float(feedback.effort @ middle)
        qd = 2.0 * middle - qd
        q = q + PERIOD * qd
        energies.append(taken)
        kinetic.append(0.5 * float(qd @ INERTIA @ qd))
    return energies, kinetic


@pytest.mark.parametrize(('delay', 'seed'), [(0.0, 0), (0.02, 0), (0.1, 1)])
def test_a_late_spring_gives_the_leader_no_energy(delay: float, seed: int) -> None:
    energies, damped = simulate(delay, 200.0, seed)
    assert min(energies) > -0.01  # the explicit steps of this simulation
    assert max(damped) <= damped[0] + 0.01
    if delay:
        _, free = simulate(delay, 0.0, seed)
        assert max(free[-500:]) > 2.0 * max(damped)  # without it the oscillation grows


def test_energy_that_was_taken_long_ago_is_not_given_back() -> None:
    feedback, wanted = LeaderEffort(FeedbackSettings(limits=(10.0, 5.0))), np.array([-8.0, 0.0])
    for speed, duration in ((0.3, 0.5), (0.0, 1.0)):
        for _ in range(round(duration / PERIOD)):
            feedback.update(wanted, np.array([speed, 0.0]), INERTIA, 1.0, PERIOD)
        assert (feedback.energy > 0.2) is (speed > 0.0)
    assert 0.0 < feedback.energy < 0.01


def test_efforts_at_rest_are_exact_and_limited() -> None:
    feedback = LeaderEffort(FeedbackSettings(limits=(10.0, 5.0)))
    for _ in range(500):
        feedback.update(np.array([3.0, -9.0]), np.zeros(2), INERTIA, 1.0, PERIOD)
    np.testing.assert_allclose(feedback.effort, [3.0, -5.0], rtol=1e-9)


def update(motion: LeaderMotion, position: float, velocity: float, time: float) -> None:
    """Let a joint state come."""
    states, q = JointStateMonitor(('joint',), differentiate_velocity=True), np.array([position])
    states.take_sample(
        ('joint',), q, np.array([velocity]), NOTHING, stamp=0.0, clock=time, received=time
    )
    motion.update(states, time, 0.1)


def test_velocity_has_no_delay_and_the_acceleration_is_found() -> None:
    motion, random = LeaderMotion(1, 20.0), np.random.default_rng(1)
    t = 0.0
    while t < 2.0:
        t += random.uniform(0.0005, 0.008)
        update(motion, 1.5 * t * t, 3.0 * t, t)
    q, qd, qdd = motion.at(t + 0.005, 0.1)
    np.testing.assert_allclose(q, 1.5 * (t + 0.005) ** 2, rtol=1e-6)
    np.testing.assert_allclose(qd, 3.0 * (t + 0.005), rtol=1e-3)
    np.testing.assert_allclose(qdd, 3.0, rtol=1e-3)


def test_a_pause_starts_the_filter_anew() -> None:
    motion = LeaderMotion(1, 20.0)
    for k in range(100):
        update(motion, 0.0, 0.1 * k, 0.002 * k)
    update(motion, 1.0, 0.0, 1.0)
    for value, expected in zip(motion.at(1.0, 0.1), (1.0, 0.0, 0.0), strict=True):
        np.testing.assert_array_equal(value, expected)
