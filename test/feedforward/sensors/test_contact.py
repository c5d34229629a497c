# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Contact: when it is found, what it ends, and that it costs nothing while off."""

from collections.abc import Callable
from typing import Any

import numpy as np

from rnea_ros.feedforward import Reason, State
from rnea_ros.feedforward.laws import Feedforward, Gravity, GravityFeedback
from rnea_ros.feedforward.loaded_model import HardwareCompensation
from rnea_ros.feedforward.motion import Trajectory
from rnea_ros.feedforward.settings import (
    ContactAction,
    ContactSettings,
    EffortSource,
    ExternalEffortSettings,
    SpringSettings,
)
from support.cases import each
from support.control.control_rig import PANDA_POSE, Array, Rig, panda_arm, setpoint, swing

NAMES = panda_arm().joint_names
POSE = np.array(PANDA_POSE)
ELBOW = 3
PUSH = 12.0
ENDING = (ContactAction.HOLD, ContactAction.GRAVITY)


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


def run_until_contact(arm: Rig) -> None:
    """Run until a contact is found, 0.02 s at most."""
    before, began = arm.controller.snapshot.contact, arm.now
    while arm.controller.snapshot.contact is before:
        assert arm.now - began < 0.02, 'no contact'
        arm.tick()


def test_an_external_effort_is_a_contact_from_its_threshold_to_half_of_it() -> None:
    arm = rig(ContactAction.FLAG)
    for number, sign in ((1, 1.0), (2, -1.0)):
        push(arm, sign * PUSH)
        run_until_contact(arm)
        contact = arm.controller.snapshot.contact
        assert contact is not None
        assert (contact.joint, contact.number) == (NAMES[ELBOW], number)
        assert sign * contact.effort > contact.threshold > 0.015 * 87.0
        assert contact.joint in str(contact)
        assert arm.state() is State.DEGRADED
        for share, flags in ((0.7, {Reason.CONTACT}), (0.3, set())):
            push(arm, sign * share * contact.threshold)
            arm.run(0.2)
            assert arm.controller.flags == flags
        assert arm.controller.snapshot.contact is contact  # counted once
    assert arm.state() is State.ACTIVE


@each('hardware', [(), (HardwareCompensation.GRAVITY,)])
@each('source', EffortSource)
@each('factor', [0.5, 1.0, 1.5])
def test_the_gravity_that_is_commanded_is_no_external_effort(
    factor: float, source: EffortSource, hardware: tuple[HardwareCompensation, ...]
) -> None:
    arm = rig(
        ContactAction.FLAG, gravity_factor=(1.5,), hardware_compensates=hardware,
        external_effort=ExternalEffortSettings(source=source),
        spring=SpringSettings((3.0,), (0.2,)),
    )
    held = 3.0 * (POSE - 0.2)
    arm.run(0.5)
    arm.effort = factor * arm.gravity
    arm.run(0.5)
    monitor = arm.controller.external_effort
    assert monitor is not None
    measured = source is EffortSource.MEASURED
    missing = ((1.5 - factor) * arm.gravity + held) * measured
    np.testing.assert_allclose(monitor.effort, missing, atol=1e-6)
    size = np.abs(1.5 * arm.gravity + held)
    threshold = 0.015 * np.array(arm.resolved.effort_limits) + 0.1 * size
    np.testing.assert_allclose(monitor.threshold, threshold, rtol=1e-6)
    assert monitor.contact == measured


def test_the_threshold_grows_with_the_efforts_of_gravity() -> None:
    settings = ContactSettings(ContactAction.FLAG, threshold=(2.0,), model_error=(0.5,))
    arm = rig(ContactAction.FLAG, contact=settings)
    for above, found in ((-0.05, False), (0.1, True)):
        push(arm, 2.0 + above + 0.5 * abs(arm.gravity[ELBOW]))
        arm.run(0.5)
        assert (arm.controller.snapshot.contact is not None) == found


@each('action', ENDING)
def test_a_motion_ends_where_it_is_and_the_next_is_followed_at_once(action: ContactAction) -> None:
    arm = rig(action, joint_states_timeout=10.0)  # the arm stands still
    arm.controller.follow(swing(NAMES, POSE, POSE + 0.2, 2.0), None)
    arm.run(0.5)
    push(arm, PUSH)
    run_until_contact(arm)
    assert arm.controller.snapshot.contact
    held, velocity = arm.desired()
    assert (velocity == 0.0).all()
    if action is ContactAction.HOLD:
        assert (held != POSE).all()
    else:
        assert arm.controller.motions.reference_at(arm.now) is None
    arm.run(0.3)
    assert (arm.desired()[0] == held).all()
    arm.controller.follow(swing(NAMES, POSE, POSE - 0.1, 0.5), None)
    arm.run(0.6)
    np.testing.assert_allclose(arm.desired()[0], POSE - 0.1)


def test_gravity_leaves_nothing_but_gravity() -> None:
    arm = rig(ContactAction.GRAVITY, mode=GravityFeedback, kp=(20.0,), ramp_duration=5.0)
    arm.controller.follow(setpoint(NAMES, POSE + 0.3), None)
    arm.run(0.2)
    push(arm, PUSH)
    run_until_contact(arm)
    # Within the time of the rate limit, not in ramp_duration: the arm stops to push.
    np.testing.assert_allclose(arm.run(0.2)[-1], arm.gravity, atol=1e-9)


def stream(arm: Rig, seconds: float, offset: float, form: Any = setpoint) -> None:
    """Send a position near the pose every 10 ms."""
    for _ in range(round(seconds / 0.01)):
        arm.controller.follow(form(NAMES, POSE + offset), None)
        arm.run(0.01)


def still(names: tuple[str, ...], position: Array) -> Trajectory:
    """Return a message of a stream that is a trajectory."""
    return swing(names, position, position, 0.05)


def reject_setpoints(arm: Rig) -> None:
    for _ in range(20):
        arm.controller.note_setpoint()
        arm.run(0.01)


def withhold(arm: Rig) -> None:
    arm.controller.permitted = False
    stream(arm, 0.3, 0.05)
    arm.controller.permitted = True


@each('action', ENDING)
@each('meanwhile, form', [
    (lambda arm: None, setpoint), (lambda arm: None, still), (reject_setpoints, setpoint),
    (withhold, setpoint),
])
def test_a_stream_that_a_contact_ended_is_ignored_until_it_pauses(
    meanwhile: Callable[[Rig], object], form: Any, action: ContactAction
) -> None:
    arm = rig(action, reference_timeout=0.1)
    stream(arm, 0.02, 0.01, form)
    push(arm, PUSH)
    stream(arm, 0.05, 0.01, form)
    push(arm, 0.0)
    held, _ = arm.desired()
    meanwhile(arm)
    stream(arm, 0.3, 0.05, form)
    desired, _ = arm.desired()
    assert (desired != POSE + 0.05).all()
    assert meanwhile is withhold or (desired == held).all()
    arm.run(0.12)
    stream(arm, 0.02, 0.02, form)
    np.testing.assert_allclose(arm.desired()[0], POSE + 0.02)


def test_it_starts_again_when_the_clock_of_the_stamps_was_set() -> None:
    arm = rig(ContactAction.FLAG)
    arm.controller.publish_external_effort(True)
    push(arm, 0.1 * PUSH)
    arm.run(0.3)
    external: Any = arm.controller.external_effort
    np.testing.assert_allclose(external.effort[ELBOW], 0.1 * PUSH, rtol=1e-6)
    for _ in range(3):  # so many samples confirm a step
        arm.wait()
        arm.feed(stamp=arm.now + 1.0)
        arm.step()
    assert arm.states.clock_steps == 1
    assert (external.effort == 0.0).all()
    assert arm.controller.snapshot.contact is None


def test_external_efforts_exist_while_they_are_published_or_contacts_found() -> None:
    arm = rig(ContactAction.NONE)
    push(arm, PUSH)

    def observed() -> Any:
        arm.run(0.4)
        return arm.controller.external_effort

    assert observed() is None
    arm.controller.publish_external_effort(True)
    np.testing.assert_allclose(observed().effort[ELBOW], PUSH, rtol=1e-6)
    arm.controller.publish_external_effort(False)
    assert observed() is None
    for action, threshold, found in (
        (ContactAction.FLAG, 50.0, False), (ContactAction.FLAG, 1.0, True),
        (ContactAction.NONE, 1.0, False),
    ):
        arm.change(contact=ContactSettings(action, threshold=(threshold,)))
        assert (observed() is None) == (action is ContactAction.NONE)
        assert (Reason.CONTACT in arm.controller.flags) == found


def test_efforts_while_commands_are_withheld_are_not_a_contact() -> None:
    arm = rig(ContactAction.HOLD)
    arm.controller.permitted = False
    push(arm, 5.0 * PUSH)  # another controller moves the arm
    arm.run(0.3)
    assert arm.controller.snapshot.contact is None
    push(arm, 0.0)
    arm.controller.permitted = True
    arm.run(0.3)
    assert arm.controller.snapshot.contact is None


@each('efforts', [None, 0.0])  # none in the joint states, or zeros as in Gazebo
def test_no_contact_is_found_while_commands_grow_on_an_arm_that_brakes_hold(
    efforts: float | None
) -> None:
    arm = Rig(
        panda_arm(), q=PANDA_POSE, rate=500.0, mode=Feedforward, ramp_duration=0.5,
        contact=ContactSettings(ContactAction.HOLD),
    )
    arm.effort = None if efforts is None else np.full(7, efforts)
    for _ in range(2 if efforts is None else 1):
        arm.controller.permitted = False
        arm.run(0.1)
        arm.controller.permitted = True
        np.testing.assert_allclose(arm.run(0.6)[-1], arm.gravity)
    stream(arm, 0.1, 0.02)
    np.testing.assert_array_equal(arm.desired()[0], POSE + 0.02)
    assert arm.controller.snapshot.contact is None


@each('action', ENDING)
def test_without_a_motion_every_action_acts_like_flag(action: ContactAction) -> None:
    arms = [rig(one, mode=Gravity) for one in (ContactAction.FLAG, action)]
    for arm in arms:
        arm.change(compensate_coriolis=True)  # a blend that must not end
        push(arm, PUSH)
        run_until_contact(arm)
        assert arm.controller.flags == {Reason.CONTACT}
        arm.run(0.2)
    np.testing.assert_array_equal(arms[0].commands, arms[1].commands)


def test_a_change_of_the_thresholds_changes_the_weights_of_the_wrench() -> None:
    threshold = ContactSettings(ContactAction.FLAG, threshold=(1.0, 9.0) * 3 + (1.0,))
    link = ExternalEffortSettings(link='fer_link8')  # six directions, seven joints: weights decide
    changed, begun = (
        rig(ContactAction.FLAG, external_effort=link),
        rig(ContactAction.FLAG, external_effort=link, contact=threshold),
    )
    changed.change(contact=threshold)
    wrenches = []
    for arm in (changed, begun):
        arm.run(0.1)
        external: Any = arm.controller.external_effort
        external.effort[:] = np.arange(1.0, 8.0)
        wrenches.append(external.wrench_at_link().copy())
    assert np.abs(wrenches[0]).max() > 1.0
    np.testing.assert_allclose(wrenches[0], wrenches[1], rtol=1e-9)
