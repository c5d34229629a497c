# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""When an effort controller is activated, and what is said until then."""

from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from support.ros.controller_manager import ControllerManager, Request, provide_messages
from support.ros.ros_process import NO_ROS
from support.ros.virtual_live import replace_live_node
from support.tools import finished

pytest.importorskip('rclpy', reason=NO_ROS)

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from sensor_msgs.msg import JointState

from rnea_ros.feedforward import State
from rnea_ros.tools.activate_controller import (
    Activator,
    NotActivatedError,
    commands_hold,
    main,
    unpause_gazebo,
)

NAMES = ('/left/feedforward', 'effort_controller', 'controller_manager')
OK = SimpleNamespace(ok=True)


def values(state: State, target: str = 'confirmed') -> dict[str, str]:
    return {'state': state.value, 'effort_controller': target, 'reason': 'joint_states_stale'}


def diagnosed(state: State, name: str = 'left/feedforward', rejected: str = '0') -> Any:
    known = values(state) | {'count/joint_trajectory/empty': rejected}
    pairs = [KeyValue(key=key, value=value) for key, value in known.items()]
    return DiagnosticArray(status=[DiagnosticStatus(name=f'{name}: control', values=pairs)])


def diagnose(manager: Any, *which: Any) -> None:
    manager.callbacks['/diagnostics'](diagnosed(*which))


@pytest.fixture
def manager(monkeypatch: pytest.MonkeyPatch) -> Any:
    provide_messages(monkeypatch)
    return ControllerManager()


def test_commands_hold_after_the_ramp_if_they_reach_the_controller() -> None:
    ended = {State.RAMPING_DOWN, State.FAULT, State.STOPPED}
    for state in State:
        if state in ended:
            with pytest.raises(NotActivatedError, match=rf'{state.value} \(joint_states_stale\)'):
                commands_hold(values(state))
        else:
            assert commands_hold(values(state)) is (state in (State.ACTIVE, State.DEGRADED))
    for target in ('absent', 'withheld'):
        assert not commands_hold(values(State.ACTIVE, target))


def test_the_controller_is_activated_once_the_commands_hold(manager: Any) -> None:
    watched = Activator(manager, *NAMES)
    left, right = 'left/feedforward', 'right/feedforward'
    for state, name, ready, missing in (
        (State.ACTIVE, right, True, "no diagnostics of 'left/feedforward: control', which an"),
        (State.RAMPING, left, True, 'the control is ramping, the effort controller confirmed'),
        (State.ACTIVE, left, False, 'no service controller_manager/switch_controller'),
        (State.ACTIVE, left, True, 'no answer from controller_manager/switch_controller'),
    ):
        manager.ready = ready
        diagnose(manager, state, name)
        assert not manager.requests
        assert not watched.done()
        assert watched.missing.startswith(missing)
    assert not watched.done()
    manager.answer = OK
    assert watched.done()
    (request,) = manager.requests
    assert request.activate_controllers == ['effort_controller']
    assert not request.deactivate_controllers
    assert (request.strictness, request.timeout.sec) == (Request.STRICT, 5)
    assert request.activate_asap


@pytest.mark.parametrize(('answer', 'why'), [
    (SimpleNamespace(ok=False), 'request rejected'), (RuntimeError('gone'), 'gone'),
])
def test_a_rejected_request_is_reported(manager: Any, answer: Any, why: str) -> None:
    watched = Activator(manager, *NAMES)
    manager.answer = answer
    diagnose(manager, State.ACTIVE)
    watched.done()
    with pytest.raises(NotActivatedError, match=f'effort_controller was not activated: {why}'):
        watched.done()


def test_a_paused_simulation_begins_once_the_node_is_active(manager: Any) -> None:
    requests: list[int] = []
    watched = Activator(manager, *NAMES, unpause=lambda: requests.append(len(manager.requests)))
    assert not watched.done()
    assert requests == []
    diagnose(manager, State.WAITING)
    for _ in range(2):
        assert not watched.done()
        assert requests == [1]
    assert manager.requests[0].timeout.sec == 30
    manager.answer = OK
    assert watched.done()


GAZEBO = """#!/bin/sh
echo "$@" >> log
case "$2" in
-l) echo /world/hall/control; echo /world/hall/playback/control; echo /gazebo/worlds;;
*) echo "data: $ANSWER";;
esac
"""


@pytest.mark.parametrize(('program', 'package'), [('gz', 'gz'), ('ign', 'ignition')])
def test_gazebos_worlds_are_unpaused_by_its_own_command_line(
    program: str, package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / program).write_text(GAZEBO)
    (tmp_path / program).chmod(0o755)
    monkeypatch.setenv('PATH', f'{tmp_path}:/bin')
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv('ANSWER', 'true')
    unpause_gazebo()
    first, request = (tmp_path / 'log').read_text().splitlines()
    assert first == 'service -l'
    assert request.startswith('service -s /world/hall/control ')
    assert f'{package}.msgs.WorldControl' in request
    assert request.endswith('pause: false')
    monkeypatch.setenv('ANSWER', 'false')
    with pytest.raises(NotActivatedError, match='hall/control of Gazebo does not answer'):
        unpause_gazebo()
    monkeypatch.setenv('PATH', '/nowhere')
    with pytest.raises(NotActivatedError, match='no world is found'):
        unpause_gazebo()


@pytest.mark.parametrize('rejected', [False, True])
def test_the_pose_is_held_before_the_controller_is_activated(
    manager: Any, rejected: bool
) -> None:
    watched = Activator(manager, *NAMES, hold=True)
    diagnose(manager, State.ACTIVE, 'left/feedforward', '2')
    assert not watched.done()
    assert watched.missing == 'the node does not hold the pose yet'
    manager.callbacks['joint_states'](JointState(name=['b', 'finger'], position=[0.2, 0.9]))
    manager.callbacks['/left/feedforward/effort'](JointState(name=['a', 'b']))
    assert not watched.done(), 'the position of a is unknown'
    manager.callbacks['joint_states'](JointState(name=['a'], position=[0.1]))
    manager.listeners = 0
    assert not watched.done()
    assert not manager.published
    manager.listeners = 1
    for _ in range(2):
        assert not watched.done()
    ((topic, sent),) = manager.published
    assert topic == '/left/feedforward/joint_trajectory'
    assert sent.joint_names == ['a', 'b']
    (point,) = sent.points
    assert point.positions.tolist() == [0.1, 0.2]
    assert point.time_from_start.nanosec == 100_000_000
    assert not manager.requests
    diagnose(manager, State.ACTIVE, 'left/feedforward', '3' if rejected else '2')
    if rejected:
        with pytest.raises(NotActivatedError, match='rejected the pose to hold'):
            watched.done()
    else:
        assert not watched.done()
    assert len(manager.requests) == (not rejected)


def test_without_the_messages_of_ros2_control_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    provide_messages(monkeypatch, missing=True)
    with pytest.raises(NotActivatedError, match='controller_manager_msgs is missing'):
        Activator(ControllerManager().node, *NAMES)


@pytest.mark.parametrize(('state', 'ended', 'code', 'reason'), [
    (State.ACTIVE, 104.0, 0, ''), (State.FAULT, 104.0, 1, 'the control is fault'),
    (State.RAMPING, 105.0, 1, 'the control is ramping, the effort controller confirmed after 5 s'),
])
def test_the_tool_says_why_it_waits_and_how_it_ends(
    state: State, ended: float, code: int, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    provide_messages(monkeypatch)
    live, manager = replace_live_node(monkeypatch), ControllerManager(OK)
    monkeypatch.setattr(live, 'create_client', manager.create_client)
    clock = SimpleNamespace(monotonic=lambda: live.now)
    monkeypatch.setattr('rnea_ros.tools.activate_controller.time', clock)
    topic = live.create_publisher(DiagnosticArray, '/diagnostics', 1)
    for time, reported in ((2.0, State.RAMPING), (4.0, state)):
        live.at(time, partial(topic.publish, diagnosed(reported, 'feedforward')))
    end = finished(main, 'effort_controller', '--timeout', '5')
    assert (end.returncode, reason in end.stderr) == (code, True)
    assert live.now == pytest.approx(ended, abs=0.3)
    assert end.stdout.count('waiting: no diagnostics') == 1
    assert end.stdout.count('waiting: the control is ramping') == 1
    assert end.stdout.endswith('effort_controller is active\n') is (code == 0)
