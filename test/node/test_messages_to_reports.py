# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""From messages to commands, diagnostics and log, through the whole node in virtual time."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from support.ros.ros_process import NO_ROS

pytest.importorskip('rclpy', reason=NO_ROS)

from diagnostic_msgs.msg import DiagnosticStatus
from rosgraph_msgs.msg import Clock

from rnea_ros.feedforward import Reason
from rnea_ros.feedforward.laws import ControlLaw
from rnea_ros.ros import set_seconds
from support.ros.fake_robot import GRAVITY, JOINTS, MODEL, PANDA_ARM, POSE
from support.ros.virtual_node import VirtualRig, virtual_node

REST = np.zeros(7)
NAN = float('nan')


@pytest.fixture
def rig() -> Iterator[VirtualRig]:
    with virtual_node() as rig:
        rig.wait_until_controlled().wait_for_command(GRAVITY)
        yield rig


def errors(rig: VirtualRig) -> list[str]:
    return [line.removeprefix('error: ') for line in rig.log.lines if line.startswith('error')]


def level(rig: VirtualRig) -> bytes:
    return bytes(rig.received['/diagnostics'][-1].status[0].level)


# --- joint states that are rejected, or stop -----------------------------------------------------

BAD: tuple[tuple[str, str, Any, str], ...] = (
    ('not_finite', 'position', [NAN, *POSE[1:]], "'fer_joint1': position nan is not finite"),
    ('no_velocity', 'velocity', [], 'no_velocity'),
    ('position_jump', 'position', [POSE[0], POSE[1] + 2.5, *POSE[2:]], "'fer_joint2'"),
)


def test_a_bad_joint_state_is_counted_named_and_has_no_effect(rig: VirtualRig) -> None:
    for reason, field, value, said in BAD:
        before = rig.count(f'joint_states/{reason}')
        with pytest.MonkeyPatch.context() as spoilt:
            spoilt.setattr(rig.robot.message, field, value)
            rig.run(0.2)
        rig.run(0.8)
        assert rig.count(f'joint_states/{reason}') == before + 20, reason
        assert any(reason in line and said in line for line in rig.log.lines), (reason, rig.log)
        assert rig.newest_is(GRAVITY)
        assert rig.state == 'active'
    for size in range(4, 100):
        rig.publish('/joint_states', bytes((0, 1, 0, 0)) + bytes(range(size)))
        if size % 8 == 3:
            rig.run()
    rig.run(1.0)
    assert rig.count('joint_states/malformed') == 96
    assert (rig.state, level(rig)) == ('active', DiagnosticStatus.OK)


def test_rejections_are_logged_once_a_second_and_all_counted(rig: VirtualRig) -> None:
    with pytest.MonkeyPatch.context() as spoilt:
        spoilt.setattr(rig.robot.message, 'position', [NAN, *POSE[1:]])
        for _ in range(4):
            rig.send_trajectory((1.0, POSE))
            rig.run()
    (warning,) = [line for line in rig.log.lines if line.startswith('warning')]
    assert warning.startswith('warning: joint_states/not_finite: ')
    assert "(not_finite: joint 'fer_joint1': position nan is not finite)" in warning
    for _ in range(2):
        rig.run(3.0)
        assert rig.count('joint_states/not_finite') == 40
        assert rig.count('joint_trajectory/mode_without_motion') == 4
        assert rig.logged('joint_states/not_finite') == 2, 'a report is not repeated'


@pytest.mark.parametrize('spoil', [
    lambda robot: setattr(robot, 'sending', False), lambda robot: setattr(robot, 'stamped', False),
    lambda robot: robot.message.position.__setitem__(1, POSE[1] + 2.5),
], ids=['silence', 'repeated stamps', 'a jump that lasts'])
def test_without_valid_joint_states_gravity_is_held_then_zero(
    rig: VirtualRig, spoil: Callable[[Any], None]
) -> None:
    began, since = rig.time.monotonic(), len(rig.commands)
    spoil(rig.robot)
    rig.run_until(lambda: rig.state == 'fault')
    rig.run(1.0)
    assert [line.partition(')')[0] for line in errors(rig)] == [
        f'{state} (joint_states_stale' for state in ('holding', 'ramping_down', 'fault')
    ]
    assert level(rig) == DiagnosticStatus.ERROR
    assert rig.diagnostics['reason'] == 'joint_states_stale'
    times, values = zip(*rig.commands[since:], strict=True)
    moments, efforts = np.array(times) - began, np.array(values)
    held = np.isclose(efforts, GRAVITY, atol=1e-9).all(axis=1)
    # The timeout from the last valid state, and the time of holding.
    assert moments[held][-1] == pytest.approx(0.5 + 0.1, abs=0.021)
    shares = efforts[:, 1] / GRAVITY[1]
    assert (np.diff(shares) <= 1e-9).all()
    assert shares[-1] == 0.0
    rig.robot.sending = rig.robot.stamped = True
    rig.robot.message.position[1] = POSE[1]
    rig.run(1.0)
    assert rig.state == 'fault'
    assert not rig.newest.any()


def test_late_joint_states_are_flagged_and_end_nothing(rig: VirtualRig) -> None:
    rig.robot.sending = False
    rig.run(0.3)
    rig.robot.sending = True
    rig.node._activation.report()
    assert (rig.diagnostics['state'], rig.flags) == ('degraded', {'joint_states_late'})
    assert level(rig) == DiagnosticStatus.WARN
    rig.run(1.0)
    assert (rig.diagnostics['state'], rig.flags) == ('active', set())
    assert not errors(rig)


def test_a_silent_uncommanded_joint_is_flagged_and_named_once() -> None:
    with virtual_node(joints=JOINTS[:6]) as rig:
        rig.wait_until_controlled().wait_for_command(GRAVITY[:6])
        rig.run(2.0)
        message = rig.robot.message
        message.name, message.position = JOINTS[:6], message.position[:6]
        message.velocity, message.effort = message.velocity[:6], message.effort[:6]
        rig.run(4.0)
        assert rig.state == 'degraded'
        assert rig.flags == {'uncommanded_stale'}
        assert rig.diagnostics['stale_joints'].startswith("joint 'fer_joint7': silent")
        assert rig.newest_is(GRAVITY[:6])
        assert rig.count('uncommanded_stale') == 1
        assert rig.logged('uncommanded_stale: 1 (the last valid value counts: joint') == 1


# --- the loop ------------------------------------------------------------------------------------


def test_a_motion_starts_at_the_wall_time_of_its_stamp() -> None:
    q = np.array(POSE) + 0.05
    held = MODEL.gravity_torques(q) + 5.0 * (q - POSE)
    with virtual_node(mode='feedforward', gains__kp=[5.0]) as rig:
        rig.tremble()
        rig.wait_until_controlled().wait_for_command(GRAVITY, 1e-6)
        rig.send_trajectory((1.0, q), start=rig.time.time() + 1.05, velocities=REST)
        rig.run(1.0)
        assert rig.newest_is(GRAVITY, 1e-6)
        rig.run(0.9)
        assert not rig.newest_is(held, 1e-3)
        rig.run(0.3)
        assert rig.newest_is(held, 1e-6)


def test_missed_ticks_are_counted_and_not_made_up_for() -> None:
    with virtual_node(joint_states_timeout=5.0) as rig:
        rig.wait_until_controlled().wait_for_command(GRAVITY)
        rig.run(1.0)
        since = len(rig.commands)
        rig.time.stall(0.055)
        rig.run(0.1)
        assert len(rig.commands) - since == 11, 'those of 0.1 s, and a late one'
        rig.run(1.0)
        assert rig.diagnostics['missed_ticks'] == '4'
        assert rig.state == 'active'


def test_returns_after_stalls_are_logged_and_counted(rig: VirtualRig) -> None:
    for _ in range(2):
        rig.time.stall(0.55)
        rig.run(3.0)
        assert rig.state == 'active'
        assert rig.newest_is(GRAVITY)
    assert rig.logged('no tick of the loop for 0.5') == 2
    assert rig.count('tick_blocked') == 2


def test_an_exception_in_a_tick_ends_in_zeros_logged_once(
    rig: VirtualRig, monkeypatch: pytest.MonkeyPatch
) -> None:
    def effort(*_: Any) -> None:
        raise RuntimeError('no effort today')

    monkeypatch.setattr(ControlLaw, 'effort', effort)
    rig.run_until(lambda: rig.state == 'fault')
    rig.run(1.0)
    assert not rig.newest.any()
    (traceback,) = [text for text in errors(rig) if 'Traceback' in text]
    assert 'RuntimeError: no effort today' in traceback
    assert rig.diagnostics['reason'] == 'internal_error'


def test_a_missing_core_is_logged_once() -> None:
    with virtual_node(realtime__cpu_affinity=[1023]) as rig:
        rig.wait_until_controlled().run(3.0)
        assert rig.logged('warning: realtime.cpu_affinity [1023] is not in force') == 1


# --- simulated time ------------------------------------------------------------------------------


class Simulation:
    """Simulated time, which begins at 50 s; ``speed`` 0 pauses it."""

    def __init__(self, rig: VirtualRig) -> None:
        self.now, self.speed, self.rig = 50.0, 1.0, rig
        clock = Clock()
        rig.robot.stamped = False
        source = rig.repeat('/clock', clock, 0.002)
        source.stamped, source.before_each = False, self._advance
        self._clock = clock.clock

    def _advance(self) -> None:
        self.now += 0.002 * self.speed
        set_seconds(self._clock, self.now)
        self.rig.robot.message.header.stamp = self._clock


def test_simulated_time_drives_the_loop_may_stand_still_and_ends_it_by_a_reset() -> None:
    with virtual_node(use_sim_time=True, joint_states_timeout=2.5) as rig:
        simulation = Simulation(rig)
        rig.wait_until_controlled().wait_for_command(GRAVITY)
        simulation.speed = 0.0
        rig.run(5.0)
        assert rig.logged('warning: /clock stands still at ') == 1
        assert rig.newest_is(GRAVITY)
        simulation.speed = 0.5
        rig.run(2.0)
        assert rig.state == 'active'
        assert rig.count('joint_states/stamp_not_newer') >= 15, 'those that the history kept'
        assert not rig.logged('stamp_not_newer')
        since = len(rig.commands)
        rig.run(2.0)
        assert len(rig.commands) - since == pytest.approx(100, abs=1)
        simulation.now = 5.0
        rig.run(1.0)
        assert errors(rig)[0] == 'holding (clock_reset)'
        rig.run_until(lambda: rig.state == 'fault')


def test_ticks_triggered_by_joint_states_go_on_without_them() -> None:
    with virtual_node(trigger='joint_states', states_rate=76.0, rate=50.0) as rig:
        rig.wait_until_controlled().wait_for_command(GRAVITY)
        since = len(rig.commands)
        rig.run(1.0)
        assert len(rig.commands) - since == pytest.approx(76, abs=1), 'one a joint state'
        assert rig.diagnostics['untriggered_ticks'] == '0'
        rig.robot.sending = False
        rig.run_until(lambda: rig.state == 'fault')
        rig.run(1.0)
        assert rig.diagnostics['reason'] == 'joint_states_stale'
        assert int(rig.diagnostics['untriggered_ticks']) > 30
        assert not rig.newest.any()


# --- robots and publishers -----------------------------------------------------------------------


def test_publishers_of_the_joint_states_are_named_in_diagnostics(rig: VirtualRig) -> None:
    listing = '/gripper, 2 nodes named /robot'
    for names, said in (['robot'], '/robot'), (['robot', 'gripper', 'robot'], listing):
        rig.publishers['/joint_states'] = names
        rig.run(1.0)
        assert rig.diagnostics['joint_state_publishers'] == said
    rig.node._activation.controller.request_fault(Reason.JOINT_STATES_CONTRADICT)
    rig.run(0.1)
    assert errors(rig)[0] == f'holding (joint_states_contradict): {listing} publish them'


def test_an_impossible_inertia_is_rejected_where_asked_to() -> None:
    broken = PANDA_ARM.replace('ixx="', 'ixx="1000', 1)
    with virtual_node(urdf=broken, strict_inertia=True) as rig:
        rig.run(3.0)
        assert rig.logged('cannot configure: link') == rig.logged('triangle inequality') == 1
        assert not rig.commands
