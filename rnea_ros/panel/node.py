# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""One feedforward node and its robot, as the panel sees and changes them; no call waits."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Mapping
from dataclasses import fields
import math
import time
from typing import Any

from geometry_msgs.msg import WrenchStamped
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState, GetState
import numpy as np
from rcl_interfaces.msg import ParameterEvent
from rcl_interfaces.srv import GetParameters, SetParametersAtomically
from rclpy.parameter import Parameter, parameter_value_to_python
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import Trigger

from ..arrays import Array
from ..feedforward.laws import Terms
from ..live import LiveNode, NodeClient
from ..ros import LATCHED, PolledSubscription

NEWEST = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
TERMS = (*(term.name for term in fields(Terms)), 'limited')
PARAMETERS = (
    'mode', 'gravity', 'gravity_factor', 'damping', 'gains.kp', 'gains.kd', 'effort_limits',
    'payload.link', 'payload.mass', 'payload.com',
)
SILENCE = 2.5  # without diagnostics for so long no control runs: they come each second, s
PATIENCE = 5.0  # longest wait for an answer, s
STOP_PATIENCE = 120.0  # the same for a stop, which may move to the rest pose first, s
NOTES = 3  # number of newest answers that are kept


class WatchedNode(NodeClient):
    """
    A feedforward node and its robot.

    Changes go through the node's services, one request of a kind at a time; of several changes of
    a parameter meanwhile the newest is sent.

    :ivar values: :data:`PARAMETERS` by name; empty until the node has answered
    :ivar state: of the control; without a control that of the lifecycle, or ``absent``
    :ivar notes: newest answers: whether it was done, and a text
    :ivar urdf: newest robot_description; empty before
    :ivar positions: newest measured position by joint
    :ivar effort: newest commands of :attr:`joints`, N m or N; ``terms``: theirs, by name
    :ivar external: newest external force, N, in the axes of a link; None if it is old
    """

    def __init__(
        self, live: LiveNode, name: str, clock: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__(live, name)
        self._clock, self._node = clock, live.node
        self.full_name = live.node.resolve_topic_name(name)
        self.namespace = self.full_name.rpartition('/')[0]
        self.values: dict[str, Any] = {}
        self.state, self.urdf = 'absent', ''
        self.notes: deque[tuple[bool, str]] = deque(maxlen=NOTES)
        self.positions: dict[str, float] = {}
        self.effort: Array = np.zeros(0)
        self.terms: dict[str, Array] = {}
        self.external: tuple[str, Array] | None = None
        self._seen, self._reported_at, self._external_at, self._due = 0, *3 * [-math.inf]
        self._changes: dict[str, Any] = {}
        self._pending: dict[str, tuple[Any, Any, Callable[[Any], None], float]] = {}
        self._clients = {'get': self._get, 'set': self._set} | {
            key: live.node.create_client(kind, f'{name}/{service}')
            for key, kind, service in (
                ('state', GetState, 'get_state'), ('stop', ChangeState, 'change_state'),
                ('tare', Trigger, 'tare'), ('rest', Trigger, 'rest'),
            )
        }
        self._near = f'{self.namespace}/' if '/' in name else ''  # a relative name can be remapped
        subscribe = live.node.create_subscription
        subscribe(String, f'{self._near}robot_description', self._on_description, LATCHED)
        subscribe(ParameterEvent, '/parameter_events', self._on_event, 100)
        self._polled: dict[str, PolledSubscription[Any]] = {}

    @property
    def busy(self) -> bool:
        """Whether a change of parameters is on its way."""
        return bool(self._changes) or 'set' in self._pending

    def change(self, values: Mapping[str, Any]) -> None:
        """Ask for other values of parameters."""
        self._changes.update(values)

    def trigger(self, key: str) -> None:
        """Ask for a ``tare``, the motion to ``rest``, or a ``stop``: a ramp down to zero."""
        request, patience = Trigger.Request(), PATIENCE
        if key == 'stop':
            transition = Transition(id=Transition.TRANSITION_DEACTIVATE)
            request, patience = ChangeState.Request(transition=transition), STOP_PATIENCE

        def answered(response: Any) -> None:
            ended = 'the node is inactive' if response.success else f'not possible: {self.state}'
            self.notes.append((response.success, f'{key}: {getattr(response, "message", ended)}'))

        self._send(key, request, answered, patience)

    def watch(self, topics: Collection[str]) -> None:
        """
        Receive only these: ``joint_states``; ``effort``, ``external_wrench``, ``terms/...``.

        The node computes and publishes the last three only while somebody does.
        """
        for topic in self._polled.keys() - topics:
            self._polled.pop(topic).destroy()
            self.terms.pop(topic.removeprefix('terms/'), None)
        for topic in set(topics) - self._polled.keys():
            kind = WrenchStamped if topic == 'external_wrench' else JointState
            near = self._near if topic == 'joint_states' else f'{self.name}/'
            # Polled: joint states at 1 kHz through the executor would take a third of a core.
            self._polled[topic] = PolledSubscription(self._node, kind, f'{near}{topic}', NEWEST)

    def poll(self) -> None:
        """Take the newest messages and answers, and send what is due."""
        now = self._clock()
        self._take(now)
        for key, (client, future, answered, deadline) in [*self._pending.items()]:
            if future.done() or now > deadline:
                del self._pending[key]
                if future.done():
                    answered(future.result())
                    continue
                client.remove_pending_request(future)
                self._note(key, f'no answer from {self.full_name}')
        silent = now - self._reported_at > SILENCE
        if self.reports != self._seen:
            if silent:  # another node may have started meanwhile
                self.values = {}
            self._seen, self._reported_at, silent = self.reports, now, False
        if not silent:
            self.state = self.diagnostics.get('state', '')
        elif not self._clients['state'].service_is_ready():
            self._without_control('absent')
        if (silent or not self.values) and now >= self._due:
            self._due = now + 1.0
            self._send('state', GetState.Request(), self._on_state)
            self._send('get', GetParameters.Request(names=list(PARAMETERS)), self._on_values)
        if self._changes and 'set' not in self._pending:
            self._send_changes()

    def _take(self, now: float) -> None:
        """Take the newest message of each topic."""
        for topic, subscription in self._polled.items():
            message = subscription.take()
            if message is None:
                continue
            if topic == 'joint_states':
                self.positions |= dict(zip(message.name, message.position, strict=False))
            elif topic == 'effort':
                self.joints, self.effort = tuple(message.name), np.array(message.effort)
            elif topic == 'external_wrench':
                force, self._external_at = message.wrench.force, now
                self.external = message.header.frame_id, np.array((force.x, force.y, force.z))
            else:
                self.terms[topic.removeprefix('terms/')] = np.array(message.effort)
        if now - self._external_at > 1.0:
            self.external = None

    def _send(
        self, key: str, request: Any, answered: Callable[[Any], None], patience: float = PATIENCE
    ) -> None:
        """Send a request, unless one of its kind is on its way; note if nothing can answer it."""
        client = self._clients[key]
        if not client.service_is_ready():
            self._note(key, f'{self.full_name} does not answer')
        elif key not in self._pending:
            future = client.call_async(request)
            self._pending[key] = client, future, answered, self._clock() + patience

    def _note(self, key: str, text: str) -> None:
        """Note a failure of what a user asked for."""
        if key not in ('get', 'state'):
            self.notes.append((False, f'{key}: {text}'))

    def _send_changes(self) -> None:
        changes, self._changes = self._changes, {}
        messages = [Parameter(name, value=v).to_parameter_msg() for name, v in changes.items()]
        text = ', '.join(f'{name} {value}' for name, value in changes.items())

        def answered(response: Any) -> None:
            result = response.result
            self.values.update(changes if result.successful else {})
            refusal = '' if result.successful else f' is refused: {result.reason}'
            self.notes.append((result.successful, f'{text}{refusal}'))

        self._send('set', SetParametersAtomically.Request(parameters=messages), answered)

    def _without_control(self, state: str) -> None:
        self.state, self.diagnostics, self.effort = state, {}, np.zeros(0)
        if state == 'absent':  # the next node may have other values
            self.values = {}

    def _on_state(self, response: Any) -> None:
        if self._clock() - self._reported_at > SILENCE:
            self._without_control(response.current_state.label)

    def _on_values(self, response: Any) -> None:
        values = [*map(parameter_value_to_python, response.values)]
        if len(values) == len(PARAMETERS) and None not in values:
            self.values = dict(zip(PARAMETERS, values, strict=True))
        elif not self.notes:
            self.notes.append((False, f'{self.full_name} lacks parameters: another version?'))

    def _on_event(self, event: Any) -> None:
        """Take over changes by any client."""
        if event.node == self.full_name and self.values:
            self.values.update({
                each.name: parameter_value_to_python(each.value)
                for each in event.changed_parameters if each.name in PARAMETERS
            })

    def _on_description(self, message: Any) -> None:
        self.urdf = message.data
