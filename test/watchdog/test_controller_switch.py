# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What the controller manager is asked for; its messages are not needed for that."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from support.ros.ros_process import NO_ROS

pytest.importorskip('rclpy', reason=NO_ROS)

from rnea_ros.errors import InputError
from rnea_ros.watchdog.effort_watchdog import ControllerSwitch

TOPIC = '/left/effort_controller/commands'


class Request:
    """The fields of controller_manager_msgs/srv/SwitchController that every distribution has."""

    BEST_EFFORT = 1
    STRICT = 2
    __slots__ = (
        'activate_asap', 'activate_controllers', 'deactivate_controllers', 'strictness', 'timeout'
    )

    def __init__(self, deactivate_controllers: list[str]) -> None:
        self.activate_controllers: list[str] = []
        self.deactivate_controllers = deactivate_controllers
        self.strictness = 0
        self.activate_asap = False
        self.timeout = SimpleNamespace(sec=0, nanosec=0)


class ControllerManager:
    """
    A node and a client in one, which notes what it is asked for and what is logged.

    :param ready: whether the service is there
    :param ok: its answer; an exception: the call fails
    """

    def __init__(self, ready: bool = True, ok: bool | Exception = True) -> None:
        self.requests: list[Any] = []
        self.lines: list[tuple[str, str]] = []
        self.srv_name = ''
        self._ready = ready
        self._ok = ok

    def get_logger(self) -> Any:
        return SimpleNamespace(
            warning=lambda text: self.lines.append(('warning', text)),
            error=lambda text: self.lines.append(('error', text)),
        )

    def create_client(self, kind: Any, name: str) -> ControllerManager:
        self.srv_name = name
        return self

    def service_is_ready(self) -> bool:
        return self._ready

    def call_async(self, request: Any) -> Any:
        self.requests.append(request)
        failure = self._ok if isinstance(self._ok, Exception) else None
        future = SimpleNamespace(
            exception=lambda: failure, result=lambda: SimpleNamespace(ok=self._ok)
        )
        return SimpleNamespace(add_done_callback=lambda callback: callback(future))


@pytest.fixture(autouse=True)
def messages(monkeypatch: pytest.MonkeyPatch) -> None:
    srv = ModuleType('controller_manager_msgs.srv')
    srv.SwitchController = SimpleNamespace(Request=Request)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, 'controller_manager_msgs', ModuleType('package'))
    monkeypatch.setitem(sys.modules, 'controller_manager_msgs.srv', srv)


def test_the_controller_of_the_topic_is_deactivated_strictly() -> None:
    manager = ControllerManager()
    ControllerSwitch(manager, 'controller_manager', TOPIC).deactivate()
    (request,) = manager.requests
    assert manager.srv_name == 'controller_manager/switch_controller'
    assert request.deactivate_controllers == ['effort_controller']
    assert request.activate_controllers == []
    assert request.strictness == Request.STRICT
    assert request.timeout.sec > 0
    assert manager.lines == [('warning', 'effort_controller was deactivated')]


@pytest.mark.parametrize('ok', [False, RuntimeError('gone')])
def test_a_rejection_is_logged_as_an_error(ok: bool | Exception) -> None:
    manager = ControllerManager(ok=ok)
    ControllerSwitch(manager, 'controller_manager', TOPIC).deactivate()
    ((level, text),) = manager.lines
    assert level == 'error'
    assert 'effort_controller stays active' in text


def test_a_controller_manager_that_is_not_there_is_not_waited_for() -> None:
    manager = ControllerManager(ready=False)
    ControllerSwitch(manager, 'controller_manager', TOPIC).deactivate()
    assert manager.requests == []
    assert manager.lines[0][0] == 'error'


def test_a_topic_that_names_no_controller_is_rejected() -> None:
    with pytest.raises(InputError, match=r"command_topic: '/commands' names no controller"):
        ControllerSwitch(ControllerManager(), 'controller_manager', '/commands')


def test_missing_messages_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, 'controller_manager_msgs.srv', None)
    with pytest.raises(InputError, match=r'action: .* needs controller_manager_msgs'):
        ControllerSwitch(ControllerManager(), 'controller_manager', TOPIC)
