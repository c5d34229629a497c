# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Sends a feedforward node everything that it listens to, good and bad, as chance will have it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
import math
import threading
import time
from typing import Any

from chaos_messages import (
    Descriptions,
    Imus,
    Known,
    Motions,
    States,
    Wrenches,
    corrupted,
)
from geometry_msgs.msg import WrenchStamped
from lifecycle_msgs.srv import ChangeState
import numpy as np
from numpy.typing import NDArray
from rcl_interfaces.srv import SetParameters
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.serialization import deserialize_message, serialize_message
from ros_process import wait_until
from sensor_msgs.msg import Imu, JointState
from std_msgs.msg import String
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory

from rnea_ros.ros import PeriodicSchedule

Array = NDArray[np.float64]

RATE = 500.0
"""Messages and requests a second, Hz."""

MOST_AT_ONCE = 50

RARE = {'thousands': 0.025, 'very': 0.025, 'cancel': 0.3, 'set-point': 0.3}
"""Chance of kinds that take the node long to read, or that end a motion, among the others."""

REQUESTS = ('good parameter', 'bad parameter', 'tare', 'impossible transition')

GOOD_PARAMETERS: tuple[tuple[str, tuple[Any, ...]], ...] = (
    ('mode', ('computed_torque', 'gravity', 'feedforward', 'gravity_feedback', 'feedback')),
    ('gains.kp', ([4.0], [9.0])),
    ('gains.kd', ([4.0], [6.0])),
    ('compensate_coriolis', (True, False)),
    ('friction.model', ('none', 'urdf', 'parameters')),
    ('friction.smoothing_velocity', ([0.05], [0.2])),
    ('payload.mass', ([0.0], [0.5], [1.0])),
    ('payload.com', ([0.0, 0.0, 0.0], [0.0, 0.0, 0.1])),
    ('payload.blend_duration', (0.0, 0.5)),
)
BAD_PARAMETERS: tuple[tuple[str, Any], ...] = (
    ('mode', 'levitate'),
    ('mode', 3),
    ('gains.kp', [-1.0]),
    ('gains.kp', [math.nan]),
    ('gains.kd', [1.0, 2.0]),
    ('gains.kd', []),
    ('friction.coulomb', [math.inf]),
    ('payload.link', ['nose']),
    ('payload.mass', [-1.0]),
    ('payload.inertia', [1.0, 0.0]),
    ('payload.blend_duration', -1.0),
    ('rate', 1e9),
    ('joints', ['a', 'a']),
    ('armature', [0.1]),
    ('effort_limits', [1e9]),
    ('command_topic', 'elsewhere'),
    ('nonsense', 1.0),
)


@dataclass(frozen=True)
class Stream:
    """
    A topic that the node listens to.

    :param name: the topic
    :param kind: type of the messages
    :param makers: of messages
    :param publisher: on the topic
    :param weight: its share of the messages
    :param good: the share of messages in it that count
    """

    name: str
    kind: Any
    makers: Any
    publisher: Any
    weight: float
    good: float


class Chaos:
    """
    Sends at :data:`RATE`, in a thread of its own, from start to end.

    Positions that jump, and requests, are sent only while ``asking`` is set: a node that has just
    come, or that stood still for seconds, cannot know that a position jumps, and one that is not
    active takes parameters that it rejects while it is.

    :param node: publishes and asks; spun by somebody else
    :param known: what is known of the robot
    :param measured: where it is
    :param contact: topic of a force-torque sensor that nobody else reads
    :param inline: topic of one that the robot has
    :param imu: topic of the base's
    :param seed: of everything
    """

    def __init__(
        self,
        node: Any,
        known: Known,
        measured: Callable[[], Array],
        *,
        contact: str,
        inline: str,
        imu: str,
        seed: int,
    ) -> None:
        self.sent: Counter[str] = Counter()
        self.results: Counter[str] = Counter()
        self.asking = False
        self._unanswered: list[tuple[str, Any]] = []
        self.lost: Counter[str] = Counter()
        """Requests without an answer, by kind."""

        self._rng = rng = np.random.default_rng(seed)
        self._measured = measured
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)

        def stream(
            name: str, kind: Any, makers: Any, weight: float, good: float, qos: Any = 10
        ) -> Stream:
            publisher = node.create_publisher(kind, name, qos)
            return Stream(name, kind, makers(known, rng), publisher, weight, good)

        self._streams = [
            stream('joint_states', JointState, States, 0.35, 0.2),
            stream('feedforward/joint_trajectory', JointTrajectory, Motions, 0.12, 0.04),
            stream(contact, WrenchStamped, Wrenches, 0.2, 0.7),
            stream(inline, WrenchStamped, Wrenches, 0.1, 0.0),
            stream(imu, Imu, Imus, 0.2, 0.7),
            stream('robot_description', String, Descriptions, 0.03, 0.0, latched),
        ]
        self._set = node.create_client(SetParameters, 'feedforward/set_parameters')
        self._change = node.create_client(ChangeState, 'feedforward/change_state')
        self._tare = node.create_client(Trigger, 'feedforward/tare')
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name='chaos', daemon=True)
        self.failure: BaseException | None = None

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def cease_to_ask(self) -> None:
        """
        Ask no more, and wait until all is answered that was asked.

        Where the machine stalls, DDS now and then drops an answer; :attr:`lost` counts them.
        """
        self.asking = False
        time.sleep(2.0 / RATE)  # the request that is being made
        if not wait_until(lambda: all(future.done() for _, future in self._unanswered)):
            self.lost.update(what for what, future in self._unanswered if not future.done())
        self._unanswered.clear()

    def forget_answers(self) -> None:
        """Ask no more: nobody is there to answer."""
        self.asking = False
        time.sleep(2.0 / RATE)
        self._unanswered.clear()

    @property
    def unsent(self) -> set[str]:
        """What was never sent, of all kinds but those that take the node long to read."""
        kinds = {f'{stream.name}: bytes' for stream in self._streams} | set(REQUESTS)
        for stream in self._streams:
            makers = {'malformed': stream.makers.malformed}
            if stream.good:
                makers['valid'] = stream.makers.valid
            kinds |= {
                f'{stream.name}: {word}: {kind}'
                for word, each in makers.items()
                for kind in each
                if RARE.get(kind.split()[0], 1.0) > 0.1
            }
        return kinds - set(self.sent)

    def end(self) -> None:
        """Cease."""
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        schedule = PeriodicSchedule(1.0 / RATE)
        missed = 0
        try:
            while not self._ended.is_set():
                schedule.wait()
                # What a stall held up comes in a burst.
                due, missed = 1 + schedule.missed - missed, schedule.missed
                for _ in range(min(due, MOST_AT_ONCE)):
                    self._act()
        except Exception as error:  # the test's own thread fails over it
            self.failure = error

    def _act(self) -> None:
        chance = self._rng.random()
        if chance < 0.08:
            self._send_bytes()
        elif chance < 0.095:
            self._set_parameters()
        elif chance < 0.097:
            self._ask(self._tare, Trigger.Request(), 'tare')
        elif chance < 0.098:
            request = ChangeState.Request()
            # None is possible while the node is active, or before it is configured.
            request.transition.id = int(self._rng.choice([0, 2, 50, 99, 255]))
            self._ask(self._change, request, 'impossible transition')
        else:
            self._send_message()

    def _stream(self) -> Stream:
        weights = [stream.weight for stream in self._streams]
        return self._streams[self._rng.choice(len(weights), p=weights)]

    def _maker(self, makers: Any) -> tuple[str, Callable[[Array], Any]]:
        kinds = [
            kind for kind in makers if self._rng.random() < RARE.get(kind.split()[0], 1.0)
        ]
        kind = str(self._rng.choice(kinds))
        return kind, makers[kind]

    def _send_message(self) -> None:
        stream = self._stream()
        good = self._rng.random() < stream.good
        kind, make = self._maker(stream.makers.valid if good else stream.makers.malformed)
        if kind == 'a jump' and not self.asking:
            return
        stream.publisher.publish(make(self._measured()))
        self.sent[f'{stream.name}: {"valid" if good else "malformed"}: {kind}'] += 1

    def _send_bytes(self) -> None:
        """Send what is no message; bytes that by chance are one are left out."""
        stream = self._stream()
        _, make = self._maker(stream.makers.malformed)
        data = corrupted(serialize_message(make(self._measured())), self._rng)
        try:
            deserialize_message(data, stream.kind)
        except Exception:
            stream.publisher.publish(data)
            self.sent[f'{stream.name}: bytes'] += 1

    def _set_parameters(self) -> None:
        rng = self._rng
        good = rng.random() < 0.5
        if good:
            name, values = GOOD_PARAMETERS[rng.integers(len(GOOD_PARAMETERS))]
            chosen = [(name, values[rng.integers(len(values))])]
        else:
            chosen = [BAD_PARAMETERS[rng.integers(len(BAD_PARAMETERS))]]
        # An empty list has no type of its own.
        parameters = [
            Parameter(name, Parameter.Type.DOUBLE_ARRAY if value == [] else None, value)
            for name, value in chosen
        ]
        request = SetParameters.Request(
            parameters=[parameter.to_parameter_msg() for parameter in parameters]
        )
        self._ask(self._set, request, f'{"good" if good else "bad"} parameter')

    def _ask(self, client: Any, request: Any, what: str) -> None:
        if not (self.asking and client.service_is_ready()):
            return
        self.sent[what] += 1
        future = client.call_async(request)
        self._unanswered.append((what, future))
        future.add_done_callback(lambda done: self._note(what, done))

    def _note(self, what: str, future: Any) -> None:
        response = future.result()
        if response is None:
            return
        results = getattr(response, 'results', [response])
        for result in results:
            success = getattr(result, 'successful', getattr(result, 'success', None))
            self.results[f'{what}: {"done" if success else "rejected"}'] += 1
