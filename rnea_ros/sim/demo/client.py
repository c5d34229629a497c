# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""ROS client of the demo: commands the feedforward node and records its topics."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
import time
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
import numpy as np
from numpy.typing import NDArray
from rcl_interfaces.srv import SetParametersAtomically
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from ...arrays import Array, shortest
from ...identification.excitation import RestToRestMotion
from ...recordings import Sample, recording_from
from ...ros import PolledSubscription, RepeatedRequest, seconds, trajectory_message
from .arm import DemoError

NEWEST = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
"""One message in each interval of the recording."""

EVERY = QoSProfile(depth=2000)  # every message, of a second or more
RECORD_INTERVAL = 0.01  # at which messages are taken, s
CATCH = 0.5  # from further away an arm does not return to a pose, but is caught, rad or m
TIMEOUT = 120.0  # of every wait, s; the first start compiles kernels, for up to 30 s


@dataclass
class Received:
    """Received messages."""

    states: list[Sample] = field(default_factory=list)  # stamps in the robot's time
    messages: list[bytes] = field(default_factory=list)  # the same as serialised messages
    terms: dict[str, list[tuple[float, Array]]] = field(default_factory=dict)  # stamp, effort


def positions(states: Sequence[Sample], joints: Sequence[str]) -> tuple[Array, Array]:
    """Return stamps, shape (N,), s, and positions of m joints, shape (N, m), rad or m."""
    recording = recording_from(states).of_joints(joints)
    return recording.time, recording.position


class DemoClient:
    """
    The ROS node of the demo. Its clock is the robot's: the stamp of the newest joint state.

    The clock has a subscription of its own: where every message is recorded, DDS withholds new
    ones until a lost one is sent again, and simulated time may pass a motion meanwhile.

    ``check_processes`` raises an error if a process of the demo has ended. Unless ``every_state``,
    it records one message in each :data:`RECORD_INTERVAL`.
    """

    def __init__(
        self, joints: Sequence[str], check_processes: Callable[[], None],
        terms: Collection[str] = (), *, every_state: bool = False
    ) -> None:
        self._joints = tuple(joints)
        self._check_processes = check_processes
        self._node = rclpy.create_node('demo')
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self._node)
        kept = EVERY if every_state else NEWEST
        self._clock: PolledSubscription[bytes] = PolledSubscription(
            self._node, JointState, 'joint_states', NEWEST, raw=True
        )
        self._states: PolledSubscription[bytes] = PolledSubscription(
            self._node, JointState, 'joint_states', kept, raw=True
        )
        self._terms: dict[str, PolledSubscription[Any]] = {
            name: PolledSubscription(self._node, JointState, f'feedforward/terms/{name}', kept)
            for name in terms
        }
        self._trajectories = self._node.create_publisher(
            JointTrajectory, 'feedforward/joint_trajectory', 1
        )
        self._hand = self._node.create_publisher(JointTrajectory, 'simulated_robot/hand', 1)
        self._parameters = self._node.create_client(
            SetParametersAtomically, 'feedforward/set_parameters_atomically'
        )
        self._node.create_subscription(DiagnosticArray, '/diagnostics', self._on_diagnostics, 1)
        self.diagnostics: dict[str, str] = {}
        self._newest: Sample | None = None

    def close(self) -> None:
        """Destroy the node."""
        self._executor.shutdown()
        self._node.destroy_node()

    def wait_until(self, what: str, condition: Callable[[], bool]) -> None:
        """Spin until a condition holds; raise a DemoError with its description after a timeout."""
        deadline = time.monotonic() + TIMEOUT
        while not condition():
            if time.monotonic() > deadline:
                raise DemoError(f'{what}: not within {TIMEOUT:g} s')
            self._check_processes()
            self._executor.spin_once(timeout_sec=0.05)

    def wait_until_held(
        self, pose: Array, bounds: tuple[Array, Array], tolerance: float,
        continuous: NDArray[np.bool_]
    ) -> Array:
        """
        Wait until the node holds the arm at a pose, shape (m,); return where it holds it.

        Without a reference an arm with a poor model falls, so the pose is sent from the first
        moment on. If it arrives late, the arm is caught where it is: a far pose would throw it.
        """
        def held() -> bool:
            nonlocal pose
            measured = self.measured()
            away = float(np.abs(shortest(measured - pose, continuous)).max())
            if away > CATCH:
                pose = np.clip(measured, *bounds)
            if self._trajectories.get_subscription_count() > 0:
                self.send_pose(pose)
            return away < tolerance and self.diagnostics.get('state') in ('active', 'degraded')

        self.wait_until('the node holds the arm', held)
        return pose

    def set_law(self, mode: str, kp: Array, kd: Array) -> None:
        """Change the control law and its gains, shape (m,) each, in one request."""
        values = {'mode': mode, 'gains.kp': kp.tolist(), 'gains.kd': kd.tolist()}
        request = SetParametersAtomically.Request(
            parameters=[Parameter(k, value=v).to_parameter_msg() for k, v in values.items()]
        )
        self.wait_until('the parameter service', self._parameters.service_is_ready)
        repeated = RepeatedRequest(self._parameters, request)
        self.wait_until(f'mode {mode}', repeated.poll)
        result = repeated.response.result
        if not result.successful:
            raise DemoError(f'mode {mode} was rejected: {result.reason}')

    def send(self, motion: RestToRestMotion, start_time: float) -> None:
        """Publish a motion of the commanded joints; its start is a stamp, s."""
        motion = motion.of_joints(self._joints)
        states = (motion.positions, motion.velocities, motion.accelerations)
        self._trajectories.publish(
            trajectory_message(self._joints, motion.times, *states, start_time=start_time)
        )

    def guide(self, motion: RestToRestMotion, lead: float) -> None:
        """Let the simulated hand hold the arm for a lead time, s, then guide it along a motion."""
        self.wait_until('the hand', lambda: self._hand.get_subscription_count() > 0)
        states = (motion.positions, motion.velocities, motion.accelerations)
        self._hand.publish(trajectory_message(self._joints, lead + motion.times, *states))

    def release(self) -> None:
        """Let the hand release the arm."""
        self._hand.publish(JointTrajectory(joint_names=self._joints))

    def send_pose(self, pose: Array, way: float = 0.0) -> None:
        """Publish a pose, shape (m,), to be reached in a time, s; 0: as a set-point."""
        zero = np.zeros((1, pose.size))
        self._trajectories.publish(
            trajectory_message(self._joints, [way], pose[np.newaxis], zero, zero)
        )

    def rejected_trajectories(self) -> dict[str, str]:
        """Return the number of rejected trajectories by reason."""
        begin = 'count/joint_trajectory/'
        return {
            key[len(begin) :]: value
            for key, value in self.diagnostics.items()
            if key.startswith(begin)
        }

    def now(self) -> float:
        """Return the robot's time, s."""
        return self._state().time

    def measured(self) -> Array:
        """Return the newest positions of the commanded joints, shape (m,), rad or m."""
        measured: Array = positions([self._state()], self._joints)[1][0]
        return measured

    def record(
        self, duration: float, progress: Callable[[Received], None] | None = None,
        at_start: Callable[[], None] | None = None, until: Callable[[Received], bool] | None = None
    ) -> Received:
        """
        Record joint states and effort terms for a duration, s, in the robot's time.

        ``progress`` is called twice a second with what was received; ``until`` ends it early.
        """
        received = Received(terms={name: [] for name in self._terms})
        end = self.now() + duration
        self._states.take_all()
        if at_start is not None:
            at_start()
        clock = time.monotonic()
        next_progress, deadline = clock, clock + TIMEOUT
        while not received.states or received.states[-1].time < end:
            self._check_processes()
            self._executor.spin_once(timeout_sec=0.0)
            messages = self._states.take_all()
            received.messages += messages
            received.states += map(_sample, messages)
            for name, subscription in self._terms.items():
                received.terms[name] += [
                    (seconds(term.header.stamp), np.array(term.effort))
                    for term in subscription.take_all()
                ]
            clock = time.monotonic()
            if messages:
                deadline = clock + TIMEOUT
            elif clock > deadline:
                raise DemoError(f'no joint states for {TIMEOUT:g} s')
            if progress is not None and clock >= next_progress and received.states:
                progress(received)
                next_progress = clock + 0.5
            if until is not None and received.states and until(received):
                break
            time.sleep(RECORD_INTERVAL)
        return received

    def _state(self) -> Sample:
        """Return the newest state; wait for the first."""
        def received() -> bool:
            messages = self._clock.take_all()
            if messages:
                self._newest = _sample(messages[-1])
            return self._newest is not None

        self.wait_until('joint states', received)
        assert self._newest is not None
        return self._newest

    def _on_diagnostics(self, message: Any) -> None:
        for status in message.status:
            if status.name == 'feedforward: control':
                self.diagnostics = {value.key: value.value for value in status.values}


def _sample(message: bytes) -> Sample:
    state = deserialize_message(message, JointState)
    return Sample(
        seconds(state.header.stamp), tuple(state.name), state.position, state.velocity,
        state.effort
    )
