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
from rcl_interfaces.msg import ParameterEvent
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
    'wrench_inputs.names',
)
FRESH = 1.0  # age until which a message is shown, s
SILENCE = 2.5  # without diagnostics for so long no control runs: they come each second, s
PATIENCE = 5.0  # longest wait for parameters, s
LONG_PATIENCE = 120.0  # the same for a stop, which may move to the rest pose first, s
NOTES = 3  # number of newest answers that are kept


class WatchedNode(NodeClient):
    """
    A feedforward node and its robot.

    :ivar values: :data:`PARAMETERS` by name; empty while the node does not answer
    :ivar state: of the control; without a control ``inactive``, or ``absent``
    :ivar notes: newest answers: whether it was done, and a text
    :ivar urdf: newest robot_description; empty before
    """

    def __init__(
        self, live: LiveNode, name: str, clock: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__(live, name)
        self._clock, self._node = clock, live.node
        self.full_name = live.node.resolve_topic_name(name)
        self.namespace = self.full_name.rpartition('/')[0]
        self._near = f'{self.namespace}/' if '/' in name else ''  # a relative name can be remapped
        self.values: dict[str, Any] = {}
        self.state, self.urdf = 'absent', ''
        self.notes: deque[tuple[bool, str]] = deque(maxlen=NOTES)
        self._seen, self._reported_at, self._due = 0, -math.inf, -math.inf
        self._read_in = ''  # state in which the parameters were read
        self._pending: dict[str, tuple[Any, Callable[[Any], None], float]] = {}
        self._clients = {'get': self._get, 'set': self._set} | {
            key: live.node.create_client(kind, f'{name}/{service}')
            for key, kind, service in (
                ('stop', ChangeState, 'change_state'), ('tare', Trigger, 'tare'),
                ('rest', Trigger, 'rest'),
            )
        }
        subscribe = live.node.create_subscription
        subscribe(String, f'{self._near}robot_description', self._on_description, LATCHED)
        subscribe(ParameterEvent, '/parameter_events', self._on_event, 100)
        self._polled: dict[str, PolledSubscription[Any]] = {}
        self._newest: dict[str, tuple[Any, float]] = {}

    @property
    def busy(self) -> bool:
        """Whether a change of parameters is on its way."""
        return 'set' in self._pending

    @property
    def payloads(self) -> list[tuple[str, float, tuple[float, ...]]]:
        """Link, mass, kg, and centre of mass in the link's frame, m, of each payload."""
        values, centres = self.values, iter(self.values.get('payload.com', ()))
        return [*zip(values.get('payload.link', ()), values.get('payload.mass', ()),
                     zip(centres, centres, centres, strict=False), strict=False)]  # fmt: skip

    def change(self, values: Mapping[str, Any]) -> None:
        """Ask for other values of parameters; a change is on its way at a time."""
        messages = [Parameter(name, value=v).to_parameter_msg() for name, v in values.items()]
        text = ', '.join(f'{name} {value}' for name, value in values.items())

        def answered(response: Any) -> None:
            done, reason = response.result.successful, response.result.reason
            self.values |= values if done else {}
            self.notes.append((done, text if done else f'{text} is refused: {reason}'))

        self._ask('set', SetParametersAtomically.Request(parameters=messages), answered)

    def trigger(self, key: str) -> None:
        """Ask for a ``tare``, the motion to ``rest``, or a ``stop``: a ramp down to zero."""
        request = Trigger.Request() if key != 'stop' else ChangeState.Request(
            transition=Transition(id=Transition.TRANSITION_DEACTIVATE))

        def answered(response: Any) -> None:
            ended = 'the node is inactive' if response.success else f'not possible: {self.state}'
            self.notes.append((response.success, f'{key}: {getattr(response, "message", ended)}'))

        if key in self._pending:  # its request may be lost
            self._forget(key)
        self._ask(key, request, answered, LONG_PATIENCE)

    def watch(self, topics: Collection[str]) -> None:
        """Receive only these topics of the node, and ``joint_states``."""
        for topic in self._polled.keys() - topics:
            self._polled.pop(topic).destroy()
        for topic in set(topics) - self._polled.keys():
            kind = WrenchStamped if topic == 'external_wrench' else JointState
            near = self._near if topic == 'joint_states' else f'{self.name}/'
            # Polled: joint states at 1 kHz through the executor would take a third of a core.
            self._polled[topic] = PolledSubscription(self._node, kind, f'{near}{topic}', NEWEST)

    def newest(self, topic: str) -> Any:
        """Return the newest message of a topic; None if it is not fresh."""
        message, received_at = self._newest.get(topic, (None, 0.0))
        return message if self._clock() - received_at < FRESH else None

    def poll(self) -> None:
        """Take the newest messages and answers, and send what is due."""
        now = self._clock()
        for topic, subscription in self._polled.items():
            if (message := subscription.take()) is not None:
                self._newest[topic] = message, now
                self.joints = tuple(message.name) if topic == 'terms/sum' else self.joints
        for key, (future, answered, deadline) in [*self._pending.items()]:
            if future.done():
                self._pending.pop(key)
                answered(future.result())
            elif now > deadline:
                self._forget(key)
                self._on_silence(key)
        if self.reports != self._seen:
            self._seen, self._reported_at = self.reports, now
        silent = now - self._reported_at > SILENCE
        self.diagnostics = {} if silent else self.diagnostics
        self.state = self.diagnostics.get('state', 'inactive' if self.values else 'absent')
        # Another state may be of a restarted node; events of its start can be lost.
        if now >= self._due and (silent or not self.values or self.state != self._read_in):
            self._due = now + 1.0
            request = GetParameters.Request(names=list(PARAMETERS))
            self._ask('get', request, self._on_values, SILENCE)

    def _ask(
        self, key: str, request: Any, answered: Callable[[Any], None], patience: float = PATIENCE
    ) -> None:
        """Send a request, unless one of its kind is on its way."""
        client = self._clients[key]
        if not client.service_is_ready():
            self._on_silence(key)
        elif key not in self._pending:
            self._pending[key] = client.call_async(request), answered, self._clock() + patience

    def _forget(self, key: str) -> None:
        self._clients[key].remove_pending_request(self._pending.pop(key)[0])

    def _on_silence(self, key: str) -> None:
        if key == 'get':
            self.values = {}  # the next node may have others
        else:
            self.notes.append((False, f'{key}: no answer from {self.full_name}'))

    def _on_values(self, response: Any) -> None:
        values = [*map(parameter_value_to_python, response.values)]
        if len(values) == len(PARAMETERS):  # else it has not declared them yet
            self.values, self._read_in = dict(zip(PARAMETERS, values, strict=True)), self.state

    def _on_event(self, event: Any) -> None:
        """Take over changes by any client, and the values of a restarted node."""
        if event.node == self.full_name and self.values:
            self.values |= {
                each.name: parameter_value_to_python(each.value)
                for each in (*event.new_parameters, *event.changed_parameters)
                if each.name in PARAMETERS
            }

    def _on_description(self, message: Any) -> None:
        self.urdf = message.data
