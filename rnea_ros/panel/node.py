# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""One feedforward node and its robot, as the panel shows and changes them; no call blocks."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping
import math
from typing import Any

from geometry_msgs.msg import WrenchStamped
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from rcl_interfaces.srv import GetParameters, SetParametersAtomically
from rclpy.parameter import Parameter, parameter_value_to_python
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import Trigger

from ..live import LiveNode, NodeClient
from ..ros import LATCHED, PolledSubscription

NEWEST = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
PARAMETERS = ('mode', 'gravity', 'gravity_factor', 'friction.model', 'damping', 'gains.kp',
              'gains.kd', 'effort_limits', 'payload.link', 'payload.mass', 'payload.com')
SERVICES = {  # type, name, longest wait for an answer, s
    'get': (GetParameters, 'get_parameters', 2.5),
    'set': (SetParametersAtomically, 'set_parameters_atomically', 5.0),
    'stop': (ChangeState, 'change_state', 120.0),  # may move to the rest pose first
    'rest': (Trigger, 'rest', 120.0),
    'tare': (Trigger, 'tare', 120.0),
}
FRESH = 1.0  # greatest age of a shown message, s
SILENCE = 2.5  # greatest age of diagnostics while a control runs, s; the period is 1 s


class WatchedNode(NodeClient):
    """A feedforward node and its robot; call :meth:`poll` 20 times a second."""

    def __init__(self, live: LiveNode, name: str, read_only: bool = False) -> None:
        super().__init__(live, name)
        self.read_only = read_only
        self.namespace = self.full_name.rpartition('/')[0]
        self.state = 'absent'  # of the control; inactive or absent without one
        self.values: dict[str, Any] = {}  # of PARAMETERS; empty while the node does not answer
        self.notes: deque[tuple[bool, str]] = deque(maxlen=3)  # newest answers: success, text
        self._clients = {key: live.node.create_client(kind, f'{name}/{service}')
                         for key, (kind, service, _) in SERVICES.items()}  # fmt: skip
        self.pending: dict[str, tuple[Any, str, float]] = {}  # future, text, deadline
        self._polled: dict[str, PolledSubscription[Any]] = {}
        self._newest: dict[str, tuple[Any, float]] = {}
        self._wanted: Mapping[str, Any] = {}
        self.urdf, self._read_at = '', -math.inf
        live.node.create_subscription(
            String, f'{self.namespace}/robot_description', self._on_description, LATCHED)

    def change(self, values: Mapping[str, Any]) -> None:
        """Request new values of parameters; the node changes all or none."""
        messages = [Parameter(name, value=v).to_parameter_msg() for name, v in values.items()]
        text = ', '.join(f'{name} {value}' for name, value in values.items())
        self._wanted = values
        self._ask('set', text, SetParametersAtomically.Request(parameters=messages))

    def trigger(self, key: str) -> None:
        """Request a ``tare``, the motion to ``rest``, or a ``stop``."""
        request = SERVICES[key][0].Request()
        if key == 'stop':
            request.transition = Transition(id=Transition.TRANSITION_DEACTIVATE)
        self._ask(key, key, request)

    def watch(self, topics: Collection[str]) -> None:
        """Receive only these topics: of the node, or ``joint_states``."""
        for topic in self._polled.keys() - topics:
            self._polled.pop(topic).destroy()
        for topic in set(topics) - self._polled.keys():
            kind = WrenchStamped if topic == 'external_wrench' else JointState
            name = f'{self.namespace if topic == "joint_states" else self.name}/{topic}'
            # Polled: joint states at 1 kHz through the executor would take a third of a core.
            self._polled[topic] = PolledSubscription(self._live.node, kind, name, NEWEST)

    def newest(self, topic: str) -> Any:
        """Return the newest message of a topic; None if it is not fresh."""
        message, received_at = self._newest.get(topic, (None, 0.0))
        return message if self.clock() - received_at < FRESH else None

    def poll(self) -> None:
        """Take the newest messages and answers, and request the parameters every second."""
        now = self.clock()
        for topic, subscription in self._polled.items():
            if (message := subscription.take()) is not None:
                self._newest[topic] = message, now
                self.joints = tuple(message.name) if topic == 'terms/sum' else self.joints
        for key, (future, text, deadline) in [*self.pending.items()]:
            if future.done() or now > deadline:
                del self.pending[key]
                self._on_answer(key, text, future.result() if future.done() else None)
        self.diagnostics = self.diagnostics if now - self.reported_at <= SILENCE else {}
        self.state = self.diagnostics.get('state', 'inactive' if self.values else 'absent')
        if now >= self._read_at + 1.0 and not self.pending.keys() & {'get', 'set'}:
            self._read_at = now
            self._ask('get', '', GetParameters.Request(names=list(PARAMETERS)))

    def _ask(self, key: str, text: str, request: Any) -> None:
        """Send a request; the answer to an older one of its kind is ignored."""
        client, deadline = self._clients[key], self.clock() + SERVICES[key][2]
        if client.service_is_ready():
            self.pending[key] = client.call_async(request), text, deadline
        else:
            self._on_answer(key, text, None)

    def _on_answer(self, key: str, text: str, response: Any) -> None:
        """Store parameters, or note the result; None: there is no answer."""
        if key == 'get':
            values = map(parameter_value_to_python, response.values if response else ())
            self.values = dict(zip(PARAMETERS, values, strict=False))  # empty if undeclared
            return
        if response is None:
            done, answer = False, f'no answer from {self.full_name}'
        elif key == 'set':
            done, answer = response.result.successful, response.result.reason
            self.values |= self._wanted if done else {}
        else:
            done, answer = response.success, getattr(response, 'message', '')
        answer = answer or ('done' if done else f'not possible: {self.state}')
        self.notes.append((done, f'{text}: {answer}'))

    def _on_description(self, message: Any) -> None:
        self.urdf = message.data
