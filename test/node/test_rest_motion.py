# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The way to the rest pose, by a stop and by the service: what ends it, and what prevents it."""

from array import array
from collections.abc import Callable, Iterator
from contextlib import contextmanager
import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from support.ros.ros_process import NO_ROS

pytest.importorskip('rclpy', reason=NO_ROS)

from rclpy.lifecycle import TransitionCallbackReturn
from std_msgs.msg import Float64
from std_srvs.srv import Trigger

from rnea_ros.collision import CollisionsNotCheckedError
from rnea_ros.feedforward import Reason
from rnea_ros.feedforward.motion import MotionState, RestPose
from rnea_ros.node import control_setup
from support.ros.fake_robot import GRAVITY, MODEL, PERIOD, POSE
from support.ros.virtual_node import VirtualRig, virtual_node

SUCCESS = TransitionCallbackReturn.SUCCESS
REST = np.array([0.0, -0.9, 0.0, -2.4, 0.0, 1.5, 0.7])
SPEED = 0.25
OPTIONS: dict[str, Any] = {
    'mode': 'computed_torque', 'gains__kp': [100.0], 'gains__kd': [20.0],
    'rest_pose': REST.tolist(), 'rest_speed': SPEED, 'joint_states_timeout': 0.1,
    'interpolation': 'spline',
}
AT_REST = 'info: is at rest_pose'
NOT_THERE = 'warning: ramps down here, not at rest_pose: '


class Arm:
    """
    An active node whose robot is exactly where the reference is, and the references by time.

    :ivar signals: how many signals the process has got
    :ivar drift: by how much more the robot lags at each message, up to 0.08 rad
    """

    def __init__(self, rig: VirtualRig) -> None:
        self.rig, self.signals, self.drift, self._lag = rig, 1, 0.0, 0.0
        self.references: list[tuple[float, MotionState]] = []
        self.controller: Any = None
        rig.node._signals = lambda: self.signals
        rig.robot.before_each = self._follow
        rig.wait_until_controlled().wait_for_command(GRAVITY)
        self.time_stands_still = False
        rig.node._activation.rest._clock = SimpleNamespace(
            latest=lambda: 0.0 if self.time_stands_still else rig.time.monotonic()
        )

    def _follow(self) -> None:
        now, active = self.rig.time.monotonic(), self.rig.node._activation
        if active is not None:
            self.controller = active.controller  # which goes on while the node deactivates
        state = self.controller and self.controller.motions.reference_at(now)
        if state:
            message = self.rig.robot.message
            self._lag = min(self._lag + self.drift, 0.08)
            message.position = array('d', state.position - self._lag)
            message.velocity = array('d', self.controller.speed_scaling.factor * state.velocity)
            self.references.append((now, state))

    @property
    def position(self) -> Any:
        return np.array(self.rig.robot.message.position)

    def at(self, delay: float, event: Callable[[], object]) -> None:
        """Let something happen after a time, s."""
        once = SimpleNamespace(due=self.rig.time.monotonic() + delay)

        def send() -> None:
            once.due = math.inf
            event()

        once.send = send
        self.rig.time.events.append(once)

    def stop(self, transition: str = 'deactivate') -> str:
        """Stop the control; return the line of the log about the rest pose."""
        assert getattr(self.rig.node, f'trigger_{transition}')() is SUCCESS
        about = [line for line in self.rig.log.lines if 'rest_pose' in line]
        return about[-1] if about else ''

    def push(self) -> None:
        """Let the environment push the elbow from now on."""
        effort = MODEL.gravity_torques(self.position)
        effort[3] -= 40.0
        self.rig.robot.message.effort = array('d', effort)


@contextmanager
def arm(**options: Any) -> Iterator[Arm]:
    with virtual_node(**(OPTIONS | options)) as rig:
        yield Arm(rig)


def assert_smooth(references: list[tuple[float, MotionState]]) -> None:
    """Check that position, velocity and acceleration of references in a row have no step."""
    times = np.array([time for time, _ in references])
    q, qd, qdd, _ = np.moveaxis(np.array([state for _, state in references]), 1, 0)
    dt = np.diff(times)[:, np.newaxis]
    assert np.abs(np.diff(q, axis=0) - dt * (qd[1:] + qd[:-1]) / 2.0).max() < 1e-4
    assert np.abs(np.diff(qd, axis=0) - dt * (qdd[1:] + qdd[:-1]) / 2.0).max() < 2e-3
    assert np.abs(np.diff(qdd, axis=0)).max() < 50.0 * dt.max()


@pytest.mark.parametrize('transition', ['deactivate', 'shutdown'])
def test_a_stop_goes_to_the_rest_pose_and_then_ramps_down(transition: str) -> None:
    with arm() as it:
        carried = np.abs(MODEL.gravity_torques(REST)).max()
        assert it.rig.logged(f'a support must carry {carried:.3g} N m or N there, at fer_joint4')
        reports = len(it.rig.received['/diagnostics'])
        assert it.stop(transition) == AT_REST
        assert len(it.rig.received['/diagnostics']) > reports + 2
        assert np.abs(it.position - REST).max() < 1e-6
        assert_smooth(it.references)
        speeds = [np.abs(state.velocity).max() for _, state in it.references]
        assert 0.99 * SPEED < max(speeds) < 1.001 * SPEED
        duration = sum(speed > 0.0 for speed in speeds) * PERIOD
        assert duration == pytest.approx(np.abs(REST - POSE).max() / SPEED + 0.5, abs=0.05)
        held = MODEL.gravity_torques(REST)
        assert any(np.allclose(effort, held, atol=1e-3) for _, effort in it.rig.commands)
        assert not it.rig.newest.any()


ENDS: dict[str, tuple[dict[str, Any], Callable[[Arm], object], str]] = {
    'a signal': ({}, lambda it: setattr(it, 'signals', 2), 'another signal'),
    'a contact that is held': ({'contact__action': 'hold'}, Arm.push, 'contact: '),
    'a contact that is a flag': ({'contact__action': 'flag'}, Arm.push, 'contact: '),
    'stale states': (
        {}, lambda it: setattr(it.rig.robot, 'sending', False), 'joint_states_stale'
    ),
    'a fault': (
        {}, lambda it: it.controller.request_fault(Reason.OUTPUT_NOT_FINITE), 'output_not_finite'
    ),
    'a lost controller': (
        {}, lambda it: it.rig.graph.listeners.clear(), 'commands_withheld'
    ),
    'a simulation that is paused': (
        {}, lambda it: setattr(it, 'time_stands_still', True), 'simulated time stands still'
    ),
    'an arm that does not get there': (
        {}, lambda it: setattr(it, 'drift', 1e-3),
        "goal_tolerance: joint 'fer_joint4': position error 0.08 exceeds 0.05, 1.",
    ),
    'a motion that stands still': (
        {'speed_scaling_topic': 'speed'}, lambda it: it.rig.publish('/speed', Float64(data=0.0)),
        'the motion takes longer than 30 s',
    ),
}


LATE = tuple(ENDS)[-3:]


@pytest.mark.parametrize('end', ENDS)
def test_what_ends_the_way_ramps_down_at_once(end: str) -> None:
    options, event, why = ENDS[end]
    with arm(**options) as it:
        it.at(1.0, lambda: event(it))
        began = it.rig.time.monotonic()
        line = it.stop()
        assert line.startswith(f'{NOT_THERE}{why}'), line
        assert np.abs(it.position - POSE).max() > 0.05
        assert np.abs(it.position - REST).max() > 0.03
        if end not in LATE:
            assert it.rig.time.monotonic() - began < 2.5
            assert 1.0 < it.references[-1][0] - began < 1.3
        assert it.rig.graph.listeners == {} or not it.rig.newest.any()


@pytest.mark.parametrize(('options', 'why'), [
    ({'mode': 'gravity'}, 'mode gravity follows no motion; set another mode before the stop'),
    ({'mode': 'cartesian_impedance'}, 'mode cartesian_impedance follows no motion; set another '
     'mode before the stop'),
    ({'mode': 'feedback', 'gains__kp': [0.0], 'gains__kd': [0.0]}, 'the arm falls'),
])
def test_a_mode_without_the_way_warns_at_the_start_and_ramps_down_here(
    options: dict[str, Any], why: str
) -> None:
    with arm(**options) as it:
        warned = 'warning: a stop ramps down without rest_pose: '
        (line,) = [text for text in it.rig.log.lines if text.startswith(warned)]
        assert line.endswith(why)
        assert it.rig.change(mode='computed_torque', gains__kp=[100.0]).successful
        assert it.rig.change(**options).successful
        assert it.rig.logged(line) == 2
        answer = it.rig.call('/feedforward/rest', Trigger)
        assert (answer.success, answer.message) == (False, line.replace(warned, ''))
        assert it.stop() == line.replace(warned, NOT_THERE)
        assert (it.position == POSE).all()
        assert not it.rig.newest.any()


@pytest.mark.parametrize(('options', 'why'), [
    ({'rest_pose': [-1.0, 1.7, -0.9, -2.9, -2.8, 2.8, 0.5]},
     'on the way fer_link0 and fer_link7 collide, 4'),
    ({'rest_speed': 0.01}, 'the way takes 51 s, more than 30 s'),
])
def test_a_way_through_a_collision_or_that_takes_too_long_is_not_taken(
    options: dict[str, Any], why: str
) -> None:
    if 'rest_pose' in options:
        pytest.importorskip('mujoco', reason='MuJoCo (pip install mujoco) is not installed')
    with arm(**options) as it:
        assert it.stop().startswith(f'{NOT_THERE}{why}')
        assert (it.position == POSE).all()
        assert not it.rig.newest.any()


def test_without_a_check_of_collisions_the_log_says_so_once(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(*_: object) -> None:
        raise CollisionsNotCheckedError('MuJoCo is missing: pip install mujoco')

    monkeypatch.setattr(control_setup, 'collision_model', missing)
    with arm() as it:
        assert it.rig.change(gains__kp=[200.0]).successful
        assert it.stop() == AT_REST
        assert it.rig.node.trigger_activate() is SUCCESS
        assert it.rig.logged('warning: rest_pose: collisions are not checked: MuJoCo is miss') == 1


@pytest.mark.parametrize('state', ['ramping', 'fault', 'contact'])
def test_an_arm_that_is_not_held_or_in_contact_is_not_moved(state: str) -> None:
    with arm(contact__action='flag', ramp_duration=1.0) as it:
        if state == 'ramping':
            it.rig.node.trigger_deactivate()
            assert it.rig.node.trigger_activate() is SUCCESS
        elif state == 'fault':
            it.controller.request_fault(Reason.OUTPUT_NOT_FINITE)
        else:
            it.rig.robot.message.effort = array('d', GRAVITY)
            it.push()
        it.rig.run(0.2)
        line = it.stop()
        assert np.abs(it.position - REST).max() > 0.1 or state == 'ramping'
        expected = {'ramping': 'the control is ramping', 'contact': 'rest_pose: contact'}
        assert expected.get(state, '') in line
        assert not it.rig.newest.any()


def test_the_service_answers_with_the_duration_and_the_arm_holds_the_pose() -> None:
    with arm() as it:
        answer = it.rig.call('/feedforward/rest', Trigger)
        assert answer.success
        assert answer.message.startswith('moves to rest_pose in 2.')
        it.rig.run(5.0)
        assert it.rig.state == 'active'
        assert np.abs(it.position - REST).max() < 1e-6
        it.rig.wait_for_command(MODEL.gravity_torques(REST), 1e-4)
        assert it.stop() == AT_REST
        answer = it.rig.call('/feedforward/rest', Trigger)
        assert (answer.success, answer.message) == (False, 'the node is not active')
    with arm(rest_pose=[0.0]) as it:
        answer = it.rig.call('/feedforward/rest', Trigger)
        assert (answer.success, answer.message) == (False, 'rest_pose is not set')
        assert it.stop() == ''


def test_a_contact_during_the_check_ends_the_way_before_it_begins(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    with arm(contact__action='hold') as it:
        def push(*_: object) -> None:
            it.push()
            it.rig.time.sleep(0.05)

        monkeypatch.setattr(RestPose, 'check', push)
        it.rig.send_trajectory((0.0, POSE), (1.0, np.array(POSE) + 0.3), start=it.rig.time.time())
        it.rig.run(0.5)
        answer = it.rig.call('/feedforward/rest', Trigger)
        assert (answer.success, answer.message) == (False, 'contact')
        held = it.position
        it.rig.run(0.5)
        assert (it.position == held).all()


@pytest.mark.parametrize('by_stream', [False, True])
def test_a_weightless_arm_that_moves_begins_a_motion_where_it_is(
    monkeypatch: pytest.MonkeyPatch, *, by_stream: bool
) -> None:
    pytest.importorskip('ruckig', reason='ruckig is not installed')
    with arm(stream__shaping='ruckig') as it:
        message, follow = it.rig.robot.message, it.rig.robot.before_each
        message.velocity = array('d', 7 * [0.2])

        def drift() -> None:
            if not it.references:
                message.position = array('d', it.position + 0.2 * PERIOD)
            before = it.position
            follow()
            if len(it.references) == 1:
                jumps.append(np.abs(it.position - before).max())

        jumps: list[float] = []
        it.rig.robot.before_each = drift
        monkeypatch.setattr(RestPose, 'check', lambda *_: it.rig.time.sleep(0.2))
        it.rig.run(0.1)
        if by_stream:
            it.rig.send_trajectory((0.0, REST))
        else:
            assert it.rig.call('/feedforward/rest', Trigger).success
        it.rig.run(0.1)
        assert jumps == [pytest.approx(0.0, abs=0.2 * 2.0 * PERIOD)]


@pytest.mark.parametrize('contact', [False, True])
def test_a_stream_replaces_the_way_of_the_service_unless_a_contact_ended_it(
    *, contact: bool
) -> None:
    pytest.importorskip('ruckig', reason='ruckig is not installed')
    with arm(stream__shaping='ruckig', contact__action='hold') as it:
        def stream(seconds: float) -> None:
            for _ in range(round(10.0 * seconds)):
                it.rig.send_trajectory((0.0, POSE))
                it.rig.run(0.1)

        stream(0.5)
        if contact:
            it.push()
            stream(0.5)
            answer = it.rig.call('/feedforward/rest', Trigger)
            assert (answer.success, answer.message) == (False, 'contact')
            it.rig.robot.message.effort = array('d', 7 * [math.nan])
            stream(1.0)
        assert it.rig.call('/feedforward/rest', Trigger).success
        stream(5.0)
        assert np.abs(it.position - (REST if contact else POSE)).max() < 1e-6


@pytest.mark.parametrize('after', [0.2, 0.5, 1.0, 1.7])
def test_a_motion_in_progress_goes_over_into_the_way_without_a_step(after: float) -> None:
    with arm() as it:
        it.rig.send_trajectory(
            (0.0, POSE), (1.0, np.array(POSE) + 0.3), (2.0, POSE), start=it.rig.time.time()
        )
        it.rig.run(after)
        assert it.stop() == AT_REST
        assert_smooth(it.references)
