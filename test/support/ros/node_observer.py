# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What a test sees of a feedforward node, and asks of it, through topics and services."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from support.ros.ros_process import PATIENCE, wait_until

Array = NDArray[np.float64]


class Onlooker:
    """
    Receives the commands and reports of a feedforward node, and sends it changes.

    :param node: of the test's own, in the feedforward node's namespace, spun in a thread
    :param controller: whose commands are heard; empty: none
    :ivar commands: each with the time at which it was sent, s
    :ivar efforts: the commands again, each with the node's own time, s
    :ivar reports: how many diagnostics have come
    :ivar states: the newest message of every status, by its name
    """

    def __init__(self, node: Any, controller: str = 'effort_controller') -> None:
        from diagnostic_msgs.msg import DiagnosticArray
        from sensor_msgs.msg import JointState
        from std_msgs.msg import Float64MultiArray

        self.node = node
        self.commands: list[tuple[float, Array]] = []
        self.efforts: list[tuple[float, Array]] = []
        self.diagnostics: dict[str, str] = {}
        self.reports = 0
        self.states: dict[str, str] = {}
        self._clients: dict[str, tuple[Any, Any]] = {}
        self._reporter = f'{node.get_namespace()}/feedforward: control'.lstrip('/')
        if controller:
            topic = f'{controller}/commands'
            node.create_subscription(Float64MultiArray, topic, self._on_command, 1000)
        node.create_subscription(DiagnosticArray, '/diagnostics', self._on_diagnostics, 10)
        node.create_subscription(JointState, 'feedforward/effort', self._on_effort, 1000)

    def _on_command(self, message: Any, info: Any) -> None:
        self.commands.append((1e-9 * info['source_timestamp'], np.array(message.data)))

    def _on_effort(self, message: Any) -> None:
        from rnea_ros.ros import seconds

        self.efforts.append((seconds(message.header.stamp), np.array(message.effort)))

    def _on_diagnostics(self, message: Any) -> None:
        for status in message.status:
            self.states[status.name] = status.message
            if status.name == self._reporter:
                self.diagnostics = {value.key: value.value for value in status.values}
                self.reports += 1

    @property
    def newest(self) -> Array:
        """The newest command."""
        return self.commands[-1][1]

    def newest_is(self, effort: Array, tolerance: float = 1e-9) -> bool:
        """Whether the newest command is an effort."""
        return bool(self.commands) and bool(np.allclose(self.newest, effort, atol=tolerance))

    @property
    def controlled(self) -> bool:
        """Whether the robot is controlled; where the machine stalls, late states are flagged."""
        return self.diagnostics.get('state') in ('active', 'degraded')

    def wait_until_controlled(self, timeout: float = PATIENCE) -> None:
        """Wait until diagnostics report that the robot is controlled, s."""
        assert wait_until(lambda: self.controlled, timeout), self.diagnostics

    def change_state(self, transition: int) -> bool:
        """Ask the node for a lifecycle transition; return whether it succeeded."""
        from lifecycle_msgs.srv import ChangeState

        request = ChangeState.Request()
        request.transition.id = transition
        return bool(self.call(ChangeState, 'feedforward/change_state', request).success)

    @property
    def lifecycle_state(self) -> str:
        """The node's lifecycle state."""
        from lifecycle_msgs.srv import GetState

        answer = self.call(GetState, 'feedforward/get_state', GetState.Request())
        return str(answer.current_state.label)

    def call(self, kind: Any, name: str, request: Any) -> Any:
        """Call a service once, when its server has discovered the client; return the response."""
        from rcl_interfaces.srv import GetParameters

        from rnea_ros.ros import RepeatedRequest

        if name not in self._clients:
            parameters = f'{name.rpartition("/")[0]}/get_parameters'
            self._clients[name] = (
                self.node.create_client(kind, name),
                self.node.create_client(GetParameters, parameters),
            )
        client, probe = self._clients[name]
        # DDS discovers clients in the order in which they were made: a server that answers the
        # probe knows the client too.
        discovered = RepeatedRequest(probe, GetParameters.Request()).poll
        assert wait_until(discovered), f'no answer from {probe.srv_name}'
        assert wait_until(client.service_is_ready), f'no service {name}'
        future = client.call_async(request)
        assert wait_until(future.done), f'no answer from {name}'
        return future.result()
