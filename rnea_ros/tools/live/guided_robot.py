# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A robot guided by hand: weightless meanwhile, its joint states recorded."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
import signal
import time
from typing import Any

import numpy as np
from rcl_interfaces.srv import GetParameters, SetParametersAtomically
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState

from ...arrays import Array
from ...errors import RneaError
from ...recordings import Recording, Sample, recording_from
from ...ros import RepeatedRequest, seconds
from .keys import END
from .node import STATES, TIMEOUT, LiveNode, SilentTopicError

INTERVAL = 0.0045  # least, of the samples, s: 200 Hz from joint states at 1 kHz
POSE = 0.2  # a pose is the mean over this time, s
STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)  # wait while the mode is restored


class GuidingError(RneaError):
    """The robot cannot be made weightless."""


class Mode:
    """The parameter ``mode`` of a feedforward node."""

    def __init__(self, live: LiveNode, feedforward: str) -> None:
        self._spin, self._name = live.spin, feedforward
        create = live.node.create_client
        self._get = create(GetParameters, f'{feedforward}/get_parameters')
        self._set = create(SetParametersAtomically, f'{feedforward}/set_parameters_atomically')

    def value(self, timeout: float = TIMEOUT) -> str:
        """Return the mode; wait for the node until the timeout, s."""
        values = self._call(self._get, GetParameters.Request(names=['mode']), timeout).values
        return str(values[0].string_value) if values else ''

    def set(self, mode: str) -> None:
        """Change the mode."""
        message = Parameter('mode', value=mode).to_parameter_msg()
        request = SetParametersAtomically.Request(parameters=[message])
        result = self._call(self._set, request, TIMEOUT).result
        if not result.successful:
            raise GuidingError(f'{self._name} rejects mode {mode}: {result.reason}')

    @contextmanager
    def weightless(self) -> Iterator[None]:
        """Provide mode gravity in a block, and the mode before at its end, whatever ends it."""
        before = self.value()
        handlers = [(number, signal.getsignal(number)) for number in STOPPING]
        signal.signal(signal.SIGHUP, signal.default_int_handler)  # a closed terminal
        try:
            self.set('gravity')
            yield
        finally:
            for number in STOPPING:
                signal.signal(number, signal.SIG_IGN)
            try:
                self.set(before)
            finally:
                for number, handler in handlers:
                    signal.signal(number, handler)
            print(f'{self._name} is in mode {before} again', flush=True)

    def _call(self, client: Any, request: Any, timeout: float) -> Any:
        repeated = RepeatedRequest(client, request)
        self._spin(timeout, client.service_is_ready)
        if client.service_is_ready():
            self._spin(TIMEOUT, repeated.poll)
        if repeated.response is not None:
            return repeated.response
        raise GuidingError(
            f'no answer from the node {self._name}; start it, name it with --node, or record a '
            'robot that is guided by other means with --keep-mode'
        )


class GuidedRobot:
    """Records joint states; the joints of the motion are those of the feedforward node."""

    def __init__(self, live: LiveNode, feedforward: str) -> None:
        self.joints: tuple[str, ...] = ()
        self._node, self._spin = live.node, live.spin
        self._samples: list[Sample] = []
        self._newest: dict[tuple[str, ...], float] = {}
        self._node.create_subscription(JointState, f'{feedforward}/effort', self._take_names, 1)

    def record(self, duration: float, done: Callable[[], bool] = lambda: False) -> Recording:
        """Record from now on for a time, s, or until a condition holds."""
        self._samples.clear()
        self._newest.clear()
        # A new subscription: in an old one earlier joint states may wait.
        states = self._node.create_subscription(JointState, 'joint_states', self._take, STATES)
        try:
            self._spin(TIMEOUT, lambda: bool(self._samples))
            if not self._samples:
                raise SilentTopicError(states.topic_name, TIMEOUT)
            self._spin(duration, done)
        finally:
            self._node.destroy_subscription(states)
        return recording_from(self._samples)

    def key(self, key: Callable[[], str], accepted: str) -> str:
        """Wait for one of the accepted keys, or the end of the input; return it."""
        pressed = ''

        def done() -> bool:
            nonlocal pressed
            pressed = key()
            return pressed != '' and pressed in accepted + END

        while pressed == '' or pressed not in accepted + END:
            self._spin(TIMEOUT, done)
        return pressed

    def pose(self) -> tuple[tuple[str, ...], Array]:
        """Return the names of the recorded joints and their present positions, rad or m."""
        recording = self.record(POSE)
        return recording.names, np.asarray(recording.position.mean(axis=0))

    def _take(self, message: Any) -> None:
        stamp = seconds(message.header.stamp) or time.monotonic()
        names = tuple(message.name)
        if abs(stamp - self._newest.get(names, -INTERVAL)) >= INTERVAL:  # it may run backwards
            self._newest[names] = stamp
            self._samples.append(Sample(stamp, names, message.position, (), ()))

    def _take_names(self, message: Any) -> None:
        self.joints = tuple(message.name)
