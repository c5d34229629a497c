# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The graph around a command topic, as a test sets it: listeners, names, answers."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

TOPIC = '/effort_controller/commands'
CONTROLLER = 'effort_controller'


class Question:
    """A question to the controller; a test answers it."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.response: Any = None

    def names(self, joints: Sequence[str] | None) -> None:
        """Answer with joints, None for a parameter that is not set."""
        from rcl_interfaces.msg import ParameterType, ParameterValue

        value = ParameterValue()
        if joints is not None:
            value.type = ParameterType.PARAMETER_STRING_ARRAY
            value.string_array_value = list(joints)
        self.response = SimpleNamespace(values=[value])


class CommandGraph:
    """
    A node and its publisher, which see the listeners that a test sets.

    :ivar listeners: name of the node by number of the endpoint
    :ivar undiscovered: endpoints that the publisher counts, and the graph does not show yet
    :ivar ready: whether the controller has a parameter service
    :ivar warnings: logged warnings, as ``errors``
    """

    def __init__(self) -> None:
        self.warnings, self.errors = list[str](), list[str]()
        self.listeners: dict[int, str] = {}
        self.undiscovered: set[int] = set()
        self.ready = True
        self.questions: list[Question] = []

    def get_subscription_count(self) -> int:
        return len(self.listeners)

    def create_client(self, kind: Any, name: str, callback_group: Any) -> SimpleNamespace:
        assert name == f'/{CONTROLLER}/get_parameters'
        return SimpleNamespace(handle=self, service_is_ready=lambda: self.ready)

    def __enter__(self) -> CommandGraph:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def send_request(self, request: Any) -> int:
        assert list(request.names) == ['joints']
        self.questions.append(Question(len(self.questions)))
        return self.questions[-1].number

    def take_response(self, kind: Any) -> tuple[Any, Any]:
        for question in self.questions:
            if question.response is not None:
                response, question.response = question.response, None
                header = SimpleNamespace(
                    request_id=SimpleNamespace(sequence_number=question.number)
                )
                return header, response
        return None, None

    def get_subscriptions_info_by_topic(self, topic: str) -> list[SimpleNamespace]:
        assert topic == TOPIC
        return [
            SimpleNamespace(endpoint_gid=[gid], node_namespace='/', node_name=name)
            for gid, name in self.listeners.items()
            if gid not in self.undiscovered
        ]

    def get_publishers_info_by_topic(self, topic: str) -> list[SimpleNamespace]:
        assert topic == TOPIC
        return []

    def resolve_topic_name(self, topic: str) -> str:
        return topic

    def get_fully_qualified_name(self) -> str:
        return '/feedforward'

    def get_logger(self) -> SimpleNamespace:
        return SimpleNamespace(warning=self.warnings.append, error=self.errors.append)
