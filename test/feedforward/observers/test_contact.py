# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Contact: when it is found, what it ends, that it costs nothing while off; no false alarms."""

from collections.abc import Callable
import os
from typing import Any

import numpy as np
import pytest

from rnea_ros import RobotModel
from rnea_ros.feedforward import Reason, State
from rnea_ros.feedforward.law import ControlLaw, Feedforward, Gravity, GravityFeedback, LoadedModel
from rnea_ros.feedforward.observers import MomentumObserver
from rnea_ros.feedforward.settings import ContactAction, ContactSettings, Settings, resolve
from rnea_ros.feedforward.trajectory import Setpoint, Trajectory
from support.control.control_rig import PANDA_POSE, Array, Rig, panda_arm, setpoint, swing
from support.models.robots import ROOT, load

ELBOW = 3
PUSH = 12.0


def rig(action: ContactAction, **settings: Any) -> Rig:
    """Return an arm that is active at rest, with measured efforts."""
    arm = Rig(panda_arm(), q=PANDA_POSE, **{
        'rate': 500.0, 'mode': Feedforward, 'ramp_duration': 0.02,
        'contact': ContactSettings(action), **settings,
    })
    arm.effort = arm.gravity
    arm.activate()
    return arm


def push(arm: Rig, effort: float) -> None:
    """Let the environment push the elbow, which the motors hold."""
    arm.effort = arm.gravity.copy()
    arm.effort[ELBOW] -= effort


def run_until_contact(arm: Rig, limit: float = 0.1) -> float:
    """Return how long it takes until a contact is found, s."""
    before, began = arm.controller.contact, arm.now
    while arm.controller.contact is before:
        assert arm.now - began < limit, 'no contact'
        arm.tick()
    return arm.now - began


@pytest.mark.parametrize('sign', [1.0, -1.0])
def test_an_external_effort_above_its_threshold_is_a_contact_of_that_joint(sign: float) -> None:
    arm = rig(ContactAction.FLAG)
    push(arm, sign * PUSH)
    assert run_until_contact(arm) < 0.02
    contact = arm.controller.contact
    assert contact is not None
    assert (contact.joint, contact.number) == (arm.model.joint_names[ELBOW], 1)
    assert sign * contact.effort > contact.threshold > 0.015 * 87.0
    assert contact.joint in str(contact)
    assert arm.controller.flags == {Reason.CONTACT}
    assert arm.state() is State.DEGRADED


def test_it_ends_below_half_of_the_threshold_and_is_counted_once() -> None:
    arm = rig(ContactAction.FLAG)
    push(arm, PUSH)
    arm.run(0.2)
    contact = arm.controller.contact
    assert contact is not None
    push(arm, 0.7 * contact.threshold)
    arm.run(0.3)
    assert Reason.CONTACT in arm.controller.flags
    push(arm, 0.0)
    arm.run(0.3)
    assert not arm.controller.flags
    assert arm.state() is State.ACTIVE
    assert arm.controller.contact is contact
    push(arm, PUSH)
    run_until_contact(arm)
    assert arm.controller.contact.number == 2


def test_the_threshold_grows_with_the_efforts_of_gravity() -> None:
    arm = rig(ContactAction.FLAG, contact=ContactSettings(
        ContactAction.FLAG, threshold=(2.0,), model_error=(0.5,)
    ))
    push(arm, 1.9 + 0.5 * abs(arm.gravity[ELBOW]))
    arm.run(0.5)
    assert arm.controller.contact is None
    push(arm, 2.2 + 0.5 * abs(arm.gravity[ELBOW]))
    run_until_contact(arm, limit=0.5)


def test_hold_ends_the_motion_where_it_is() -> None:
    arm = rig(ContactAction.HOLD, joint_states_timeout=10.0)  # the arm stands still
    end = np.array(PANDA_POSE) + 0.2
    arm.controller.follow(swing(arm.model.joint_names, PANDA_POSE, end, 2.0), None)
    arm.run(0.5)
    push(arm, PUSH)
    run_until_contact(arm)
    held, velocity = arm.desired()
    assert (velocity == 0.0).all()
    assert (held != PANDA_POSE).all()
    arm.run(2.0)
    assert (arm.desired()[0] == held).all()
    assert arm.controller.contact is not None
    assert arm.controller.contact.ends_motion


def test_gravity_leaves_nothing_but_gravity() -> None:
    arm = rig(ContactAction.GRAVITY, mode=GravityFeedback, kp=(20.0,), ramp_duration=5.0)
    arm.controller.follow(setpoint(arm.model.joint_names, np.array(PANDA_POSE) + 0.3), None)
    arm.run(0.2)
    push(arm, PUSH)
    run_until_contact(arm)
    assert arm.controller.reference_at(arm.now) is None
    # Within the time of the rate limit, not in ramp_duration: the arm stops to push.
    commands = arm.run(0.2)
    np.testing.assert_allclose(commands[-1], arm.gravity, atol=1e-9)


@pytest.mark.parametrize('action', [ContactAction.HOLD, ContactAction.GRAVITY])
def test_a_new_motion_leads_away_from_the_obstacle_at_once(action: ContactAction) -> None:
    arm = rig(action)
    push(arm, PUSH)
    run_until_contact(arm)
    away = np.array(PANDA_POSE) - 0.1
    arm.controller.follow(swing(arm.model.joint_names, PANDA_POSE, away, 1.0), None)
    arm.run(1.1)
    np.testing.assert_allclose(arm.desired()[0], away)


def test_after_a_single_motion_the_next_one_is_followed_at_once() -> None:
    arm, names = rig(ContactAction.HOLD), panda_arm().joint_names
    away = np.array(PANDA_POSE) - 0.1
    arm.controller.follow(swing(names, PANDA_POSE, np.array(PANDA_POSE) + 0.1, 1.0), None)
    arm.run(0.05)
    push(arm, PUSH)
    run_until_contact(arm)
    arm.controller.follow(swing(names, PANDA_POSE, away, 1.0), None)
    arm.run(1.1)
    np.testing.assert_allclose(arm.desired()[0], away)


def still(names: tuple[str, ...], position: Array) -> Trajectory:
    """Return a message of a stream that is a trajectory."""
    return swing(names, position, position, 0.05)


@pytest.mark.parametrize('form', [setpoint, still])
@pytest.mark.parametrize('action', [ContactAction.HOLD, ContactAction.GRAVITY])
def test_a_stream_that_a_contact_ended_is_ignored_until_it_pauses(
    action: ContactAction, form: Callable[[tuple[str, ...], Array], Setpoint | Trajectory]
) -> None:
    arm = rig(action, reference_timeout=0.1)

    def stream(seconds: float, offset: float) -> None:
        for _ in range(round(seconds / 0.01)):
            arm.controller.follow(form(arm.model.joint_names, np.array(PANDA_POSE) + offset), None)
            arm.run(0.01)

    stream(0.1, 0.01)
    np.testing.assert_allclose(arm.desired()[0], np.array(PANDA_POSE) + 0.01)
    push(arm, PUSH)
    arm.run(0.05)
    held = arm.controller.reference_at(arm.now)
    push(arm, 0.0)
    stream(1.0, 0.05)
    after = arm.controller.reference_at(arm.now)
    assert after is held or (after is not None and held is not None
                             and (after.position == held.position).all())
    arm.run(0.12)
    stream(0.1, 0.02)
    np.testing.assert_allclose(arm.desired()[0], np.array(PANDA_POSE) + 0.02)


def test_it_starts_again_when_the_clock_of_the_stamps_was_set() -> None:
    arm = rig(ContactAction.FLAG)
    arm.controller.publish_external_effort(True)
    push(arm, 0.1 * PUSH)
    arm.run(0.3)
    external = arm.controller.external_effort
    assert external is not None
    np.testing.assert_allclose(external.effort[ELBOW], 0.1 * PUSH, rtol=1e-6)
    for _ in range(3):  # so many samples confirm a step
        arm.wait()
        rejection = arm.feed(stamp=arm.now + 1.0)
        arm.step()
    assert rejection is None
    assert arm.states.clock_steps == 1
    assert (external.effort == 0.0).all()
    assert arm.controller.contact is None


def test_a_contact_is_not_found_without_a_reaction_and_nothing_is_computed() -> None:
    arm = rig(ContactAction.NONE)
    push(arm, 10.0 * PUSH)
    arm.run(0.3)
    assert arm.controller.contact is None
    assert arm.controller.external_effort is None


def test_external_efforts_exist_while_they_are_published() -> None:
    arm = rig(ContactAction.NONE)
    arm.controller.publish_external_effort(True)
    push(arm, PUSH)
    arm.run(0.5)
    external = arm.controller.external_effort
    assert external is not None
    np.testing.assert_allclose(external.effort[ELBOW], PUSH, rtol=1e-6)
    assert not arm.controller.flags
    arm.controller.publish_external_effort(False)
    arm.run(0.1)
    assert arm.controller.external_effort is None


def test_of_two_requests_before_a_tick_the_last_one_counts() -> None:
    arm = rig(ContactAction.NONE)
    arm.controller.publish_external_effort(True)
    arm.controller.publish_external_effort(False)
    arm.run(0.1)
    assert arm.controller.external_effort is None


def test_thresholds_and_the_reaction_change_while_it_runs() -> None:
    arm = rig(ContactAction.NONE)
    push(arm, PUSH)
    arm.change(contact=ContactSettings(ContactAction.FLAG, threshold=(50.0,)))
    arm.run(0.3)
    assert arm.controller.contact is None
    arm.change(contact=ContactSettings(ContactAction.FLAG, threshold=(1.0,)))
    run_until_contact(arm)
    arm.change(contact=ContactSettings(ContactAction.NONE))
    arm.run(0.1)
    assert not arm.controller.flags
    assert arm.controller.external_effort is None


def test_efforts_while_commands_are_withheld_are_not_a_contact() -> None:
    arm = rig(ContactAction.HOLD)
    arm.controller.permitted = False
    push(arm, 5.0 * PUSH)  # another controller moves the arm
    arm.run(0.3)
    assert arm.controller.contact is None
    push(arm, 0.0)
    arm.controller.permitted = True
    arm.run(0.3)
    assert arm.controller.contact is None


BRAKES = pytest.mark.parametrize('efforts', [None, 0.0], ids=['no efforts', 'efforts of zero'])
"""Joint states without efforts, or with zeros as in Gazebo, of an arm that brakes hold."""


def braked_rig(action: ContactAction, efforts: float | None, **settings: Any) -> Rig:
    arm = Rig(panda_arm(), q=PANDA_POSE, **{
        'rate': 500.0, 'mode': Gravity, 'contact': ContactSettings(action), **settings,
    })
    arm.effort = None if efforts is None else np.full(7, efforts)
    return arm


@BRAKES
@pytest.mark.parametrize('mode', [Gravity, Feedforward])
@pytest.mark.parametrize('action', ContactAction)
def test_no_contact_ends_a_start_ramp(
    action: ContactAction, mode: type[ControlLaw], efforts: float | None
) -> None:
    arm = braked_rig(action, efforts, mode=mode)
    commands = arm.run(1.1)
    reached = np.abs(commands[:, 1]) >= 0.95 * abs(arm.gravity[1])
    assert np.argmax(reached) * arm.period == pytest.approx(0.95, abs=0.02)
    assert arm.controller.contact is None


@BRAKES
def test_no_contact_at_the_start_ends_a_stream(efforts: float | None) -> None:
    arm = braked_rig(ContactAction.HOLD, efforts, mode=Feedforward)
    target = np.array(PANDA_POSE) + 0.02
    for _ in range(200):
        arm.controller.follow(setpoint(arm.model.joint_names, target), None)
        arm.run(0.01)
    np.testing.assert_array_equal(arm.desired()[0], target)


def test_no_contact_is_found_while_commands_that_were_withheld_grow_again() -> None:
    arm = braked_rig(ContactAction.GRAVITY, None)
    arm.run(1.5)
    arm.controller.permitted = False
    arm.run(0.5)
    arm.controller.permitted = True
    arm.run(1.1)
    np.testing.assert_allclose(arm.commands[-1], arm.gravity)
    assert arm.controller.contact is None


@pytest.mark.parametrize('action', [ContactAction.HOLD, ContactAction.GRAVITY])
@pytest.mark.parametrize('interruption', ['0.1 s withheld', '1 s withheld', 'stall', 'blocked'])
def test_a_stream_ended_by_a_contact_stays_ended(interruption: str, action: ContactAction) -> None:
    arm = rig(action, reference_timeout=0.2)
    near, far = np.array(PANDA_POSE) + 0.01, np.array(PANDA_POSE) + 0.05

    def stream(seconds: float, position: np.ndarray, *, feed: bool = True) -> None:
        for _ in range(round(seconds / 0.01)):
            arm.controller.follow(setpoint(arm.model.joint_names, position), None)
            arm.run(0.01, feed=feed)

    stream(0.1, near)
    push(arm, PUSH)
    stream(0.1, near)
    push(arm, 0.0)
    held, _ = arm.desired()
    if 'withheld' in interruption:
        arm.controller.permitted = False
        stream(float(interruption.split()[0]), far)
        arm.controller.permitted = True
    elif interruption == 'stall':
        stream(0.4, far, feed=False)
    else:
        arm.now += 0.4
    stream(2.0, far)
    assert arm.state() is State.ACTIVE
    if 'withheld' in interruption:
        assert (arm.desired()[0] == (held if action is ContactAction.GRAVITY else arm.q)).all()
    assert (arm.desired()[0] != far).all()


def test_rejected_set_points_are_not_a_pause_of_their_stream() -> None:
    arm = rig(ContactAction.HOLD, reference_timeout=0.1)
    arm.controller.follow(setpoint(arm.model.joint_names, PANDA_POSE), None)
    arm.run(0.05)
    push(arm, PUSH)
    run_until_contact(arm)
    for _ in range(50):
        arm.controller.note_setpoint()
        arm.run(0.01)
    target = np.array(PANDA_POSE) + 0.02
    arm.controller.follow(setpoint(arm.model.joint_names, target), None)
    arm.run(0.01)
    assert (arm.desired()[0] != target).all()


@pytest.mark.parametrize('action', [ContactAction.HOLD, ContactAction.GRAVITY])
def test_without_a_motion_every_action_acts_like_flag(action: ContactAction) -> None:
    arms = [rig(each, mode=Gravity) for each in (ContactAction.FLAG, action)]
    for arm in arms:
        arm.change(compensate_coriolis=True)  # a blend that must not end
        push(arm, PUSH)
        run_until_contact(arm)
        assert Reason.CONTACT in arm.controller.flags
        arm.run(0.2)
    np.testing.assert_array_equal(arms[0].commands, arms[1].commands)


RATE = 500.0

MINUTES = 'RNEA_ROS_TEST_MINUTES'
"""Environment variable with the length of the motion, min; 60 takes some minutes."""

MINUTE = 60.0
ERROR = 0.05
VELOCITY_NOISE = 0.002
"""Of an encoder of 17 bits that is differentiated and filtered, rad/s."""


def wrong(model: RobotModel, rng: np.random.Generator) -> RobotModel:
    """Return the arm: every mass, centre of mass and moment of inertia 5 % more or less."""
    factor = 1.0 + ERROR * rng.choice([-1.0, 1.0], size=(len(model.body_names), 5))
    bodies = []
    for body, (mass, *com, moment) in zip(
        model.inertial_parameters.reshape(-1, 10), factor, strict=True
    ):
        m, c, J = body[0], body[1:4] / body[0], matrix(body[4:])
        about_com = moment * (J - m * (c @ c * np.eye(3) - np.outer(c, c)))
        m, c = mass * m, c * com
        J = about_com + m * (c @ c * np.eye(3) - np.outer(c, c))
        bodies.append([m, *(m * c), J[0, 0], J[0, 1], J[1, 1], J[0, 2], J[1, 2], J[2, 2]])
    return model.with_inertial_parameters(np.ravel(bodies))


def matrix(moments: Array) -> Array:
    xx, xy, yy, xz, yz, zz = moments
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def fast_motion(
    model: RobotModel, rng: np.random.Generator, t: Array
) -> tuple[Array, Array, Array]:
    """Return q, qd and qdd of five sines a joint, up to 95 % of the velocity limits."""
    n = model.nv
    lower, upper = np.maximum(model.position_lower, -2.5), np.minimum(model.position_upper, 2.5)
    w = 2.0 * np.pi * np.array([[0.11], [0.23], [0.37], [0.53], [0.71]])
    w = w * rng.uniform(0.9, 1.1, (5, n))
    size = rng.uniform(0.5, 1.0, (5, n)) / np.array([[1.0], [1.2], [1.5], [2.0], [3.0]])
    size *= 0.5 * (upper - lower) / size.sum(axis=0)
    size *= np.minimum(1.0, 0.95 * model.velocity_limits / (size * w).sum(axis=0))
    phase = w * t[:, None, None] + rng.uniform(0.0, 2.0 * np.pi, (5, n))
    q = 0.5 * (lower + upper) + (size * np.sin(phase)).sum(axis=1)
    qd = (size * w * np.cos(phase)).sum(axis=1)
    return q, qd, -(size * w * w * np.sin(phase)).sum(axis=1)


def largest(model: RobotModel, seed: int, seconds: float) -> float:
    """Return the largest external effort of a motion, as a share of its threshold."""
    rng = np.random.default_rng(seed)
    settings = resolve(Settings(joints=model.joint_names, rate=RATE), model)
    observer = MomentumObserver(LoadedModel(model).bodies, settings)
    t = np.arange(0.0, seconds, 1.0 / RATE)
    q, qd, qdd = fast_motion(model, rng, t)
    effort = wrong(model, rng).inverse_dynamics_batch(q, qd, qdd)
    qd = qd + VELOCITY_NOISE * rng.normal(size=qd.shape)
    command, found = np.zeros(model.nv), 0.0
    for k in range(len(t)):
        dt = 1.0 / RATE if k else -1.0
        found = max(found, observer.observe(q[k], qd[k], effort[k], command, None, None, dt))
    return found


@pytest.mark.parametrize('name', ['panda_arm', 'ur5e'])
def test_fast_motion_with_a_model_error_of_5_percent_is_not_a_contact(name: str) -> None:
    minutes = int(os.environ.get(MINUTES, 1))
    model = load(ROOT / f'urdf/{name}.urdf')
    shares = [largest(model, seed, MINUTE) for seed in range(minutes)]
    print(f'{name}, {minutes} min: largest external effort {max(shares):.2f} of its threshold')
    assert max(shares) < 1.0
