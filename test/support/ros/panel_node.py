# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A feedforward node as the panel reaches it, without middleware and in virtual time."""

from types import SimpleNamespace
from typing import Any

import pytest

STEP = 0.05


class FakeGraph:
    """
    Services and topics of a feedforward node.

    :ivar ready: whether its services exist; ``answers``: whether they answer
    :ivar parameters: its parameters; ``changes``: the requests to change them
    :ivar refusal: why it refuses changes; empty: it accepts them
    :ivar triggered: its answer to a stop, a tare, a rest
    :ivar calls: services that were called
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from rnea_ros.panel import node

        self.now, self.ready, self.answers, self.refusal = 100.0, True, True, ''
        self.parameters: dict[str, Any] = {
            'mode': 'gravity', 'gravity': [0.0, 0.0, -9.81], 'gravity_factor': [1.0],
            'friction.model': 'none', 'damping': [0.0], 'gains.kp': [5.0], 'gains.kd': [1.0, 2.0],
            'effort_limits': [0.0], 'rest_pose': [0.0], 'wrench_inputs.names': [''],
            'payload.link': [''], 'payload.mass': [0.0], 'payload.com': [0.0, 0.0, 0.0],
        }
        self.changes: list[dict[str, Any]] = []
        self.triggered: Any = None
        self.calls: list[str] = []
        self.polled: dict[str, list[Any]] = {}
        self.subscriptions: dict[str, Any] = {}
        self._report: dict[str, str] | None = None
        monkeypatch.setattr(node, 'PolledSubscription', self._poll)

    def run(self, node: Any, duration: float) -> None:
        """Poll the node for a time, s; it reports each step, if it does."""
        for _ in range(round(duration / STEP)):
            self.now += STEP
            if self.ready and self.answers and self._report is not None:
                pairs = [SimpleNamespace(key=k, value=v) for k, v in self._report.items()]
                status = SimpleNamespace(name=node.status, values=pairs)
                self.subscriptions['/diagnostics'](SimpleNamespace(status=[status]))
            node.poll()

    def report(self, **diagnostics: str) -> None:
        """Publish diagnostics from now on."""
        self._report = diagnostics

    def publish(self, topic: str, message: Any) -> None:
        self.polled[topic].append(message)

    def event(self, node: str, parameter: str, value: Any, kind: str = 'changed') -> None:
        """Announce a changed, or a new, parameter of a node."""
        from rclpy.parameter import Parameter

        message = Parameter(parameter, value=value).to_parameter_msg()
        lists = {'new_parameters': [], 'changed_parameters': [], f'{kind}_parameters': [message]}
        self.subscriptions['/parameter_events'](SimpleNamespace(node=node, **lists))

    def create_client(self, kind: Any, name: str) -> Any:
        service = name.rpartition('/')[2]

        def call(request: Any) -> Any:
            self.calls.append(service)
            sets = service == 'set_parameters_atomically'
            response = self._set(request) if sets else None
            return SimpleNamespace(
                done=lambda: self.answers,
                result=lambda: response or self._answer(service, request),
            )

        return SimpleNamespace(
            service_is_ready=lambda: self.ready, call_async=call,
            remove_pending_request=lambda future: None,
        )

    def create_subscription(self, kind: Any, topic: str, callback: Any, qos: Any) -> None:
        self.subscriptions[topic] = callback

    def create_publisher(self, kind: Any, topic: str, qos: Any) -> Any:
        return SimpleNamespace()

    def resolve_topic_name(self, name: str) -> str:
        return f'/{name}'

    def _answer(self, service: str, request: Any) -> Any:
        from rclpy.parameter import Parameter

        if service == 'get_parameters':
            messages = [Parameter(x, value=self.parameters[x]).to_parameter_msg()
                        for x in request.names]
            return SimpleNamespace(values=[message.value for message in messages])
        return self.triggered

    def _set(self, request: Any) -> Any:
        from rclpy.parameter import parameter_value_to_python

        changes = {x.name: parameter_value_to_python(x.value) for x in request.parameters}
        changes = {k: [*v] if not isinstance(v, str) else v for k, v in changes.items()}
        self.changes.append(changes)
        self.parameters |= {} if self.refusal else changes
        return SimpleNamespace(result=SimpleNamespace(
            successful=not self.refusal, reason=self.refusal))

    def _poll(self, node: Any, kind: Any, topic: str, qos: Any) -> Any:
        queue = self.polled[topic] = []
        return SimpleNamespace(
            take=lambda: queue.pop() if queue else None, destroy=lambda: self.polled.pop(topic))


def watched(graph: FakeGraph, name: str = 'feedforward') -> Any:
    """Return the panel's view of a node of the graph."""
    from rnea_ros.panel.node import WatchedNode

    live: Any = SimpleNamespace(node=graph)
    return WatchedNode(live, name, lambda: graph.now)
