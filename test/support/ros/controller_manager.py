# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A node whose controller manager answers at once; the messages of ros2_control are not needed."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest


class Request:
    """The fields of controller_manager_msgs/srv/SwitchController that every distribution has."""

    STRICT = 2
    __slots__ = (
        'activate_asap', 'activate_controllers', 'deactivate_controllers', 'strictness', 'timeout'
    )

    def __init__(self, **controllers: list[str]) -> None:
        self.activate_controllers = controllers.get('activate_controllers', [])
        self.deactivate_controllers = controllers.get('deactivate_controllers', [])
        self.strictness, self.activate_asap = 0, False
        self.timeout = SimpleNamespace(sec=0, nanosec=0)


class ControllerManager:
    """
    A node and a client in one, which notes requests, messages and log lines.

    :ivar ready: whether the service is there
    :ivar answer: an exception: the call fails; None: it did not come yet
    """

    def __init__(self, answer: Any = None) -> None:
        self.ready, self.answer, self.listeners = True, answer, 1
        self.requests: list[Request] = []
        self.lines: list[tuple[str, str]] = []
        self.srv_name = ''
        self.callbacks: dict[str, Any] = {}
        self.published: list[Any] = []
        self.node: Any = self
        self.resolve_topic_name = str

    def get_logger(self) -> Any:
        return SimpleNamespace(
            warning=lambda text: self.lines.append(('warning', text)),
            error=lambda text: self.lines.append(('error', text)),
        )

    def create_subscription(self, kind: Any, topic: str, callback: Any, depth: int) -> None:
        self.callbacks[topic] = callback

    def create_publisher(self, kind: Any, topic: str, depth: int) -> Any:
        return SimpleNamespace(
            publish=lambda message: self.published.append((topic, message)),
            get_subscription_count=lambda: self.listeners,
        )

    def create_client(self, kind: Any, name: str) -> ControllerManager:
        self.srv_name = name
        return self

    def service_is_ready(self) -> bool:
        return self.ready

    def call_async(self, request: Request) -> Any:
        self.requests.append(request)
        failure = self.answer if isinstance(self.answer, Exception) else None
        future = SimpleNamespace(
            done=lambda: self.answer is not None, exception=lambda: failure,
            result=lambda: self.answer,
        )
        future.add_done_callback = lambda callback: callback(future)
        return future


def provide_messages(monkeypatch: pytest.MonkeyPatch, *, missing: bool = False) -> None:
    """Let controller_manager_msgs be importable with one service, or let it be missing."""
    srv = ModuleType('controller_manager_msgs.srv')
    srv.SwitchController = SimpleNamespace(Request=Request)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, 'controller_manager_msgs', ModuleType('package'))
    monkeypatch.setitem(sys.modules, 'controller_manager_msgs.srv', None if missing else srv)
