# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A client of the feedforward node: its parameters, diagnostics and trajectories."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
import math
import signal
import time
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
import numpy as np
from numpy.typing import ArrayLike
from rcl_interfaces.srv import GetParameters, SetParametersAtomically
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from ..errors import RneaError
from ..identification.excitation import RestToRestMotion
from ..ros import RepeatedRequest, trajectory_message
from .node import LiveNode

QUEUE = 10  # of trajectories: braking does not displace a cancellation that is on its way
STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)  # wait while the mode is restored


class NodeError(RneaError):
    """The node gives no answer, or rejects a request."""


class Trajectories:
    """Sends motions on a topic of trajectories."""

    def __init__(self, live: LiveNode, topic: str) -> None:
        self._publisher = live.node.create_publisher(JointTrajectory, topic, QUEUE)

    @property
    def topic(self) -> str:
        """Full name of the topic."""
        return str(self._publisher.topic_name)

    @property
    def subscribed(self) -> bool:
        """Whether the topic has a subscription."""
        return bool(self._publisher.get_subscription_count() > 0)

    def send(
        self, motion: RestToRestMotion, start_time: float = 0.0, lead: float = 0.0
    ) -> None:
        """Send a motion; its start is a stamp, s, or 0: at once, ``lead``, s, before it."""
        states = (motion.positions, motion.velocities, motion.accelerations)
        times = lead + motion.times
        self._publisher.publish(
            trajectory_message(motion.joint_names, times, *states, start_time=start_time)
        )

    def send_pose(
        self, joints: tuple[str, ...], pose: ArrayLike, way: float = 0.0
    ) -> None:
        """Send a pose, shape (m,), to be reached in a time, s; 0: as a set-point."""
        positions = np.array([pose], dtype=np.float64)
        rest = np.zeros_like(positions)
        self.send(RestToRestMotion(joints, np.array([way]), positions, rest, rest))

    def cancel(self, joints: tuple[str, ...]) -> None:
        """Send a trajectory without points."""
        self._publisher.publish(JointTrajectory(joint_names=list(joints)))


class NodeClient:
    """
    A feedforward node, as its clients use it.

    :param remedy: what helps without an answer, for the error
    :ivar diagnostics: newest values of its control, by key, of the time ``reported_at``, s
    :ivar joints: joints of its commands, from :meth:`watch_joints` and a command on
    """

    clock = staticmethod(time.monotonic)

    def __init__(self, live: LiveNode, name: str = 'feedforward', remedy: str = '') -> None:
        self._live, self.name, self._remedy = live, name, remedy
        self.full_name: str = live.node.resolve_topic_name(name)
        self.diagnostics: dict[str, str] = {}
        self.reported_at = -math.inf
        self.joints: tuple[str, ...] = ()
        self.status = f'{self.full_name.lstrip("/")}: control'
        # Created early: the first request does not wait for their discovery.
        self._get = live.node.create_client(GetParameters, f'{name}/get_parameters')
        self._set = live.node.create_client(
            SetParametersAtomically, f'{name}/set_parameters_atomically'
        )
        self.trajectories = Trajectories(live, f'{name}/joint_trajectory')
        live.node.create_subscription(DiagnosticArray, '/diagnostics', self._on_diagnostics, 10)

    def watch_joints(self) -> None:
        """Receive the joints of the commands."""
        self._live.node.create_subscription(JointState, f'{self.name}/effort', self._on_effort, 1)

    @property
    def rejected_trajectories(self) -> dict[str, int]:
        """Number of rejected trajectories by reason."""
        begin = 'count/joint_trajectory/'
        counts = self.diagnostics.items()
        return {key[len(begin) :]: int(n) for key, n in counts if key.startswith(begin)}

    def mode(self) -> str:
        """Return the parameter ``mode``."""
        values = self._call(self._get, GetParameters.Request(names=['mode'])).values
        return str(values[0].string_value) if values else ''

    def set(self, values: Mapping[str, Any]) -> None:
        """Change parameters in one request."""
        messages = [Parameter(name, value=v).to_parameter_msg() for name, v in values.items()]
        request = SetParametersAtomically.Request(parameters=messages)
        result = self._call(self._set, request).result
        if not result.successful:
            name, value = next(iter(values.items()))
            raise NodeError(f'{self.name} rejects {name} {value}: {result.reason}')

    @contextmanager
    def weightless(self) -> Iterator[None]:
        """Provide mode gravity in a block, and the mode before at its end, whatever ends it."""
        before = self.mode()
        handlers = [(number, signal.getsignal(number)) for number in STOPPING]
        signal.signal(signal.SIGHUP, signal.default_int_handler)  # a closed terminal
        try:
            self.set({'mode': 'gravity'})
            yield
        finally:
            for number in STOPPING:
                signal.signal(number, signal.SIG_IGN)
            try:
                self.set({'mode': before})
            finally:
                for number, handler in handlers:
                    signal.signal(number, handler)
            print(f'{self.name} is in mode {before} again', flush=True)

    def _call(self, client: Any, request: Any) -> Any:
        """Return the response of a service of the node."""
        repeated = RepeatedRequest(client, request)

        def no_answer() -> NodeError:
            return NodeError(f'no answer from the node {self.name}{self._remedy}')

        self._live.wait(client.service_is_ready, no_answer)
        self._live.wait(repeated.poll, no_answer)
        return repeated.response

    def _on_diagnostics(self, message: Any) -> None:
        for status in message.status:
            if status.name == self.status:
                self.diagnostics = {pair.key: pair.value for pair in status.values}
                self.reported_at = self.clock()

    def _on_effort(self, message: Any) -> None:
        self.joints = tuple(message.name)
