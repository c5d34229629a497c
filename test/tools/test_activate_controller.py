# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""When an effort controller is activated; the controller manager's messages are not needed."""

from __future__ import annotations

from pathlib import Path
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from support.ros.ros_process import NO_ROS

pytest.importorskip('rclpy', reason=NO_ROS)

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from sensor_msgs.msg import JointState

from rnea_ros.feedforward import State
from rnea_ros.tools.activate_controller import Activator, Holder, NotActivatedError, commands_hold
from rnea_ros.tools.live import GazeboError, unpause


def values(state: State, target: str = 'confirmed') -> dict[str, str]:
    return {'state': state.value, 'effort_controller': target, 'reason': 'joint_states_stale'}


@pytest.mark.parametrize('state', [State.ACTIVE, State.DEGRADED])
def test_commands_hold_when_the_start_ramp_is_over(state: State) -> None:
    assert commands_hold(values(state))


@pytest.mark.parametrize('target', ['absent', 'withheld'])
def test_commands_that_do_not_reach_the_controller_hold_nothing(target: str) -> None:
    assert not commands_hold(values(State.ACTIVE, target))


@pytest.mark.parametrize('state', [State.WAITING, State.READY, State.RAMPING, State.HOLDING])
def test_commands_before_the_end_of_a_ramp_do_not_hold(state: State) -> None:
    assert not commands_hold(values(state))


@pytest.mark.parametrize('state', [State.RAMPING_DOWN, State.FAULT, State.STOPPED])
def test_a_control_that_ends_gets_no_controller(state: State) -> None:
    with pytest.raises(NotActivatedError, match=rf'{state.value} \(joint_states_stale\)'):
        commands_hold(values(state))


class Request:
    """The fields of controller_manager_msgs/srv/SwitchController that every distribution has."""

    STRICT = 2
    __slots__ = (
        'activate_asap', 'activate_controllers', 'deactivate_controllers', 'strictness', 'timeout'
    )

    def __init__(self, activate_controllers: list[str]) -> None:
        self.activate_controllers = activate_controllers
        self.deactivate_controllers: list[str] = []
        self.strictness = 0
        self.activate_asap = False
        self.timeout = SimpleNamespace(sec=0, nanosec=0)


class ControllerManager:
    """
    A node and a client in one, which notes what it is asked for.

    :ivar ready: whether the service is there
    :ivar answer: an exception: the call fails; None: it did not come yet
    """

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.srv_name = ''
        self.ready = True
        self.answer: Any = None
        self.hear: dict[str, Any] = {}
        self.requested: list[Any] = []
        self.listeners = 1

    def create_subscription(self, kind: Any, topic: str, callback: Any, depth: int) -> None:
        self.hear[topic] = callback

    def create_publisher(self, kind: Any, topic: str, depth: int) -> Any:
        assert topic == '/left/feedforward/joint_trajectory'
        return SimpleNamespace(
            publish=self.requested.append, get_subscription_count=lambda: self.listeners
        )

    def create_client(self, kind: Any, name: str) -> ControllerManager:
        self.srv_name = name
        return self

    def service_is_ready(self) -> bool:
        return self.ready

    def call_async(self, request: Request) -> Any:
        self.requests.append(request)
        failure = self.answer if isinstance(self.answer, Exception) else None
        return SimpleNamespace(
            done=lambda: self.answer is not None, exception=lambda: failure,
            result=lambda: self.answer,
        )

    def diagnose(self, state: State, name: str = 'left/feedforward: control', **more: str) -> None:
        known = values(state) | {key.replace('__', '/'): value for key, value in more.items()}
        pairs = [KeyValue(key=key, value=value) for key, value in known.items()]
        status = DiagnosticStatus(name=name, values=pairs)
        self.hear['/diagnostics'](DiagnosticArray(status=[status]))


@pytest.fixture
def manager(monkeypatch: pytest.MonkeyPatch) -> ControllerManager:
    srv = ModuleType('controller_manager_msgs.srv')
    srv.SwitchController = SimpleNamespace(Request=Request)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, 'controller_manager_msgs', ModuleType('c'))
    monkeypatch.setitem(sys.modules, 'controller_manager_msgs.srv', srv)
    return ControllerManager()


def activator(manager: ControllerManager) -> Activator:
    return Activator(manager, '/left/feedforward', 'effort_controller', 'controller_manager')


def test_the_controller_is_activated_once_the_commands_hold(manager: ControllerManager) -> None:
    watched = activator(manager)
    assert not watched.done()
    assert watched.missing.startswith("no diagnostics of 'left/feedforward: control', which")
    manager.diagnose(State.ACTIVE, 'right/feedforward: control')
    assert not watched.done()
    assert not manager.requests
    manager.diagnose(State.RAMPING)
    assert not watched.done()
    assert watched.missing == 'the control is ramping, the effort controller confirmed'
    assert not manager.requests
    manager.diagnose(State.ACTIVE)
    assert not watched.done()
    assert watched.missing == 'no answer from controller_manager/switch_controller'
    manager.answer = SimpleNamespace(ok=True)
    assert watched.done()
    (request,) = manager.requests
    assert request.activate_controllers == ['effort_controller']
    assert not request.deactivate_controllers
    assert request.strictness == Request.STRICT
    assert request.timeout.sec > 0


def test_a_paused_simulation_begins_once_the_node_is_active(manager: ControllerManager) -> None:
    requests_before: list[int] = []
    watched = Activator(
        manager, '/left/feedforward', 'joint_state_broadcaster', 'controller_manager',
        unpause=lambda: requests_before.append(len(manager.requests)),
    )
    assert not watched.done()
    assert not requests_before
    manager.diagnose(State.WAITING)
    assert not watched.done()
    assert requests_before == [1]
    assert not watched.done()
    assert requests_before == [1]
    manager.answer = SimpleNamespace(ok=True)
    assert watched.done()


def test_a_paused_simulation_stays_paused_once_control_ended(manager: ControllerManager) -> None:
    names = ('/left/feedforward', 'joint_state_broadcaster', 'controller_manager')
    watched = Activator(manager, *names, unpause=lambda: pytest.fail('time begins'))
    manager.diagnose(State.FAULT)
    with pytest.raises(NotActivatedError, match='fault'):
        watched.done()
    assert not manager.requests


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
    unpause()
    asked = (tmp_path / 'log').read_text().splitlines()
    assert asked[0] == 'service -l'
    (request,) = asked[1:]
    assert request.startswith('service -s /world/hall/control ')
    assert f'{package}.msgs.WorldControl' in request
    assert request.endswith('pause: false')
    monkeypatch.setenv('ANSWER', 'false')
    with pytest.raises(GazeboError, match='hall/control of Gazebo does not answer'):
        unpause()
    monkeypatch.setenv('PATH', '/nowhere')
    with pytest.raises(GazeboError, match='no world is found'):
        unpause()


def holding(manager: ControllerManager) -> Activator:
    """Return one that has the pose held, at a time when the node's commands hold already."""
    holder = Holder(manager, '/left/feedforward')
    names = ('/left/feedforward', 'effort_controller', 'controller_manager')
    watched = Activator(manager, *names, holder)
    manager.diagnose(State.ACTIVE, count__joint_trajectory__empty='2')
    return watched


def stand(manager: ControllerManager) -> None:
    """Let joint states and the node's efforts come."""
    manager.hear['joint_states'](JointState(name=['b', 'finger'], position=[0.2, 0.9]))
    manager.hear['joint_states'](JointState(name=['a'], position=[0.1]))
    manager.hear['/left/feedforward/effort'](JointState(name=['a', 'b'], effort=[1.0, 2.0]))


def test_the_pose_is_held_before_the_controller_is_activated(manager: ControllerManager) -> None:
    watched = holding(manager)
    assert not watched.done()
    assert not manager.requested
    assert watched.missing == 'the node does not hold the pose yet'
    stand(manager)
    manager.listeners = 0
    assert not watched.done()
    assert not manager.requested
    manager.listeners = 1
    assert not watched.done()
    (requested,) = manager.requested
    assert requested.joint_names == ['a', 'b']
    (point,) = requested.points
    assert point.positions.tolist() == [0.1, 0.2]
    assert point.time_from_start.nanosec > 0
    assert not watched.done()
    assert not manager.requests
    manager.diagnose(State.ACTIVE, count__joint_trajectory__empty='2')
    assert not watched.done()
    assert len(manager.requested) == 1
    assert len(manager.requests) == 1


def test_a_pose_that_the_node_rejects_gets_no_controller(manager: ControllerManager) -> None:
    watched = holding(manager)
    stand(manager)
    assert not watched.done()
    manager.diagnose(State.ACTIVE, count__joint_trajectory__empty='3')
    with pytest.raises(NotActivatedError, match='rejected the pose to hold'):
        watched.done()
    assert not manager.requests


def test_a_controller_manager_that_is_not_there_is_waited_for(manager: ControllerManager) -> None:
    watched = activator(manager)
    manager.ready = False
    manager.diagnose(State.ACTIVE)
    assert not watched.done()
    assert watched.missing == 'no service controller_manager/switch_controller'
    assert not manager.requests


@pytest.mark.parametrize(('answer', 'why'), [
    (SimpleNamespace(ok=False), 'request rejected'),
    (SimpleNamespace(ok=False, message='in use'), 'in use'), (RuntimeError('gone'), 'gone'),
])
def test_a_rejected_request_is_reported(manager: ControllerManager, answer: Any, why: str) -> None:
    watched = activator(manager)
    manager.answer = answer
    manager.diagnose(State.ACTIVE)
    watched.done()
    with pytest.raises(NotActivatedError, match=f'effort_controller was not activated: {why}'):
        watched.done()


def test_without_the_messages_of_ros2_control_it_says_so(
    monkeypatch: pytest.MonkeyPatch, manager: ControllerManager
) -> None:
    monkeypatch.setitem(sys.modules, 'controller_manager_msgs', None)
    monkeypatch.setitem(sys.modules, 'controller_manager_msgs.srv', None)
    with pytest.raises(NotActivatedError, match='controller_manager_msgs is missing'):
        activator(manager)
