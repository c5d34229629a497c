# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""One feedforward node and its robot, as the panel sees and changes them; no call waits."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Mapping
import math
import time
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
PARAMETERS = (
    'mode', 'gravity', 'gravity_factor', 'friction.model', 'damping', 'gains.kp', 'gains.kd',
    'effort_limits', 'payload.link', 'payload.mass', 'payload.com', 'rest_pose',
)
SERVICES = {
    'get': (GetParameters, 'get_parameters', 2.5),
    'set': (SetParametersAtomically, 'set_parameters_atomically', 5.0),
    'stop': (ChangeState, 'change_state', 120.0),  # may move to the rest pose first
    'rest': (Trigger, 'rest', 120.0),
    'tare': (Trigger, 'tare', 120.0),
}
"""Type and name of the node's services, and the longest wait for an answer, s."""

FRESH = 1.0  # age until which a message is shown, s
SILENCE = 2.5  # without diagnostics for so long no control runs: they come each second, s


class WatchedNode(NodeClient):
    """
    A feedforward node and its robot; :meth:`poll` is to be called 20 times a second.

    :ivar values: :data:`PARAMETERS` by name; empty while the node does not answer
    :ivar state: of the control; without a control ``inactive``, or ``absent``
    :ivar notes: newest answers: whether it was done, and a text
    """

    def __init__(
        self, live: LiveNode, name: str, clock: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__(live, name)
        self.clock, self._node = clock, live.node
        self.full_name = live.node.resolve_topic_name(name)
        self.namespace = self.full_name.rpartition('/')[0]
        self.values: dict[str, Any] = {}
        self.state, self.urdf = 'absent', ''
        self.notes: deque[tuple[bool, str]] = deque(maxlen=3)
        self._clients = {key: live.node.create_client(kind, f'{name}/{service}')
                         for key, (kind, service, _) in SERVICES.items()}  # fmt: skip
        self._pending: dict[str, tuple[Any, Callable[[Any], None], float]] = {}
        self._polled: dict[str, PolledSubscription[Any]] = {}
        self._newest: dict[str, tuple[Any, float]] = {}
        self._seen, self._reported_at, self._read_at = 0, -math.inf, -math.inf
        live.node.create_subscription(
            String, f'{self.namespace}/robot_description', self._on_description, LATCHED)

    @property
    def busy(self) -> bool:
        """Whether a change of parameters is on its way."""
        return 'set' in self._pending

    def change(self, values: Mapping[str, Any]) -> None:
        """Ask for other values of parameters: all are changed, or none."""
        messages = [Parameter(name, value=v).to_parameter_msg() for name, v in values.items()]
        text = ', '.join(f'{name} {value}' for name, value in values.items())

        def answered(response: Any) -> None:
            done, reason = response.result.successful, response.result.reason
            self.values |= values if done else {}
            self.notes.append((done, text if done else f'{text} is refused: {reason}'))

        self._ask('set', SetParametersAtomically.Request(parameters=messages), answered)

    def trigger(self, key: str) -> None:
        """Ask for a ``tare``, the motion to ``rest``, or a ``stop``: a ramp down to zero."""
        request = SERVICES[key][0].Request()
        if key == 'stop':
            request.transition = Transition(id=Transition.TRANSITION_DEACTIVATE)

        def answered(response: Any) -> None:
            ended = 'the node is inactive' if response.success else f'not possible: {self.state}'
            self.notes.append((response.success, f'{key}: {getattr(response, "message", ended)}'))

        self._ask(key, request, answered)

    def watch(self, topics: Collection[str]) -> None:
        """Receive only these topics of the node, and ``joint_states``."""
        for topic in self._polled.keys() - topics:
            self._polled.pop(topic).destroy()
        for topic in set(topics) - self._polled.keys():
            kind = WrenchStamped if topic == 'external_wrench' else JointState
            owner = self.namespace if topic == 'joint_states' else self.name
            # Polled: joint states at 1 kHz through the executor would take a third of a core.
            self._polled[topic] = PolledSubscription(self._node, kind, f'{owner}/{topic}', NEWEST)

    def newest(self, topic: str) -> Any:
        """Return the newest message of a topic; None if it is not fresh."""
        message, received_at = self._newest.get(topic, (None, 0.0))
        return message if self.clock() - received_at < FRESH else None

    def poll(self) -> None:
        """Take the newest messages and answers, and ask for the parameters if it is due."""
        now = self.clock()
        for topic, subscription in self._polled.items():
            if (message := subscription.take()) is not None:
                self._newest[topic] = message, now
                self.joints = tuple(message.name) if topic == 'terms/sum' else self.joints
        for key, (future, answered, deadline) in [*self._pending.items()]:
            if future.done():
                del self._pending[key]
                answered(future.result())
            elif now > deadline:
                del self._pending[key]
                self._on_silence(key)
        if self.reports != self._seen:
            self._seen, self._reported_at = self.reports, now
        self.diagnostics = self.diagnostics if now - self._reported_at <= SILENCE else {}
        self.state = self.diagnostics.get('state', 'inactive' if self.values else 'absent')
        if now >= self._read_at + 1.0 and not self._pending.keys() & {'get', 'set'}:
            self._read_at = now
            self._ask('get', GetParameters.Request(names=list(PARAMETERS)), self._on_values)

    def _ask(self, key: str, request: Any, answered: Callable[[Any], None]) -> None:
        """Send a request; an older one of its kind has no answer, and may be lost."""
        client = self._clients[key]
        if client.service_is_ready():
            deadline = self.clock() + SERVICES[key][2]
            self._pending[key] = client.call_async(request), answered, deadline
        else:
            self._on_silence(key)

    def _on_silence(self, key: str) -> None:
        if key == 'get':
            self.values = {}
        else:
            self.notes.append((False, f'{key}: no answer from {self.full_name}'))

    def _on_values(self, response: Any) -> None:
        values = [*map(parameter_value_to_python, response.values)]
        if len(values) == len(PARAMETERS):  # else it has not declared them yet
            self.values = dict(zip(PARAMETERS, values, strict=True))

    def _on_description(self, message: Any) -> None:
        self.urdf = message.data
