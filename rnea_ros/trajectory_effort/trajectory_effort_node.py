# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The node ``trajectory_effort``: adds efforts to trajectories and passes them on.

In: ``~/joint_trajectory``, joint states, and the robot description. Out: trajectories with
efforts for a joint_trajectory_controller with an effort command interface. A trajectory is passed
on whole, or rejected whole with the reason in the log and in diagnostics.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
import os
import sys
import time
from typing import Any

from diagnostic_msgs.msg import DiagnosticStatus
import numpy as np
from rcl_interfaces.msg import ParameterType, SetParametersResult
from rcl_interfaces.srv import GetParameters
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.serialization import serialize_message
from rclpy.utilities import try_shutdown
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from trajectory_msgs.msg import JointTrajectory

from ..errors import RequestRejectedError, RneaError
from ..feedforward import JointBounds, JointStateMonitor
from ..feedforward.motion import TrajectoryError
from ..messages import (
    FixedLayoutReader,
    JointStateSample,
    MalformedError,
    decode_trajectory,
    load_decoder,
)
from ..parameters import described
from ..robot import RobotModel
from ..ros import (
    LATCHED,
    MACHINE_TIME,
    DiagnosticsPublisher,
    NodeProcess,
    ParameterServices,
    PolledNodeTime,
    PolledRequest,
    PolledSubscription,
    check_topic,
    declare_all,
)
from ..urdf import parse_urdf, read_urdf
from .planner import PARAMETERS, EffortPlan, EffortPlanner, values_of

ABOUT = """\
The node 'trajectory_effort': adds efforts to trajectories and passes them on to a
joint_trajectory_controller with an effort command interface. A trajectory is passed on whole, or
rejected whole with the reason in the log and in diagnostics."""

NEWEST_STATES = QoSProfile(depth=100, reliability=ReliabilityPolicy.BEST_EFFORT)

UPDATE_PERIOD = 0.05  # time between readings of the joint states, s: only the newest state counts
REQUEST_PERIOD = 1.0  # time between requests, s: the controller may restart with other joints

# Size above which best-effort subscriptions may lose a message, bytes: most messages above Fast
# DDS's shared memory of 512 KiB did not arrive.
LARGE_MESSAGE = 400_000


class TrajectoryController:
    """The node ``<topic>/..``; its parameters are unknown before its first answer."""

    def __init__(self, node: Any, topic: str) -> None:
        self._node, self._topic = node, topic
        self.name = topic.rpartition('/')[0]
        self._request: PolledRequest[Any] = PolledRequest(
            node, GetParameters, f'{self.name}/get_parameters',
            GetParameters.Request(names=['joints', 'command_interfaces']),
        )
        self._due = 0.0
        self.joints: tuple[str, ...] | None = None
        self.command_interfaces: tuple[str, ...] | None = None

    @property
    def may_lose_messages(self) -> bool:
        """Whether a best-effort subscription may lose long messages; JTC has one by default."""
        subscriptions = self._node.get_subscriptions_info_by_topic(self._topic)
        return any(
            subscription.qos_profile.reliability == ReliabilityPolicy.BEST_EFFORT
            for subscription in subscriptions
        )

    def poll(self, now: float) -> None:
        """Request the parameters, or take the answer, without waiting; monotonic time, s."""
        answer = self._request.poll(now) if now >= self._due else None
        if answer is None:
            return
        self._due = now + REQUEST_PERIOD
        values = [
            tuple(value.string_array_value) or None
            for value in answer.values
            if value.type == ParameterType.PARAMETER_STRING_ARRAY
        ]
        if len(values) == 2:
            self.joints, self.command_interfaces = values


class TrajectoryEffort(ParameterServices, PolledNodeTime):
    """Adds efforts to trajectories and passes them on."""

    def __init__(self) -> None:
        super().__init__('trajectory_effort')
        declare_all(self, PARAMETERS)
        self._values = values_of(self)
        check_topic(self, 'trajectory_topic', self._values['trajectory_topic'])
        self.add_on_set_parameters_callback(self._on_set_parameters)
        self.add_post_set_parameters_callback(self._after_set_parameters)
        self._topic = self.resolve_topic_name(self._values['trajectory_topic'])
        self._controller = TrajectoryController(self, self._topic)
        self._model: RobotModel | None = None
        self._planner: EffortPlanner | None = None
        self._changed: tuple[dict[str, Any], EffortPlanner | None] = self._values, None
        self._states: JointStateMonitor | None = None
        self._read_states = FixedLayoutReader(JointStateSample.read)
        self._joint_states: PolledSubscription[bytes] = PolledSubscription(
            self, JointState, 'joint_states', NEWEST_STATES, raw=True
        )
        self._plan: EffortPlan | None = None
        self._rejected: Counter[str] = Counter()
        self._passed_on, self._rejected_last, self._logged_missing = 0, '', ''
        load_decoder()
        if self._values['robot_description']:
            self._load_model(read_urdf(self._values['robot_description']))
        else:
            self.create_subscription(
                String, 'robot_description', self._on_robot_description, LATCHED
            )
        self._publisher = self.create_publisher(JointTrajectory, self._topic, 10)
        self.create_subscription(
            JointTrajectory, '~/joint_trajectory', self._on_trajectory, 10, raw=True
        )
        self._diagnostics = DiagnosticsPublisher(self, 'trajectories')
        self.create_timer(UPDATE_PERIOD, self._update, clock=MACHINE_TIME)
        self.create_timer(1.0, self._publish_diagnostics, clock=MACHINE_TIME)
        # Last: a rejected start is one line.
        if os.environ.get('ROS_DISTRO') == 'humble':
            self.get_logger().warning(
                'joint_trajectory_controller rejects efforts on Humble; use reference_source of '
                'the feedforward node instead'
            )

    def _on_robot_description(self, message: Any) -> None:
        try:
            self._load_model(message.data)
        except RneaError as error:
            self.get_logger().error(f'robot_description rejected: {error}')

    def _load_model(self, urdf: str) -> None:
        description = parse_urdf(urdf, strict_inertia=self._values['strict_inertia'])
        self._model = RobotModel.from_description(description, gravity=self._values['gravity'])
        for warning in description.warnings:
            self.get_logger().warning(warning)
        self._states = JointStateMonitor(
            self._model.joint_names,
            JointBounds.of_speeds(np.full(self._model.nv, np.inf), self._model.continuous),
            differentiate_velocity=self._values['differentiate_velocity']
        )
        self._planner = None

    def _update(self) -> None:
        """Read the joint states; make the planner once the robot and its joints are known."""
        self._read_joint_states()
        self._controller.poll(time.monotonic())
        joints = tuple(filter(None, self._values['joints'])) or self._controller.joints
        if self._model is None or not joints or (self._planner and joints == self._planner.joints):
            return
        try:
            self._planner = EffortPlanner(self._model, joints, self._values)
        except RneaError as error:
            self._planner = None
            self.get_logger().error(f'not ready: {error}', throttle_duration_sec=10.0)
            return
        self.get_logger().info(
            f'{self._model!r}: efforts for {", ".join(joints)} on {self._topic}'
        )

    def _read_joint_states(self) -> None:
        now, clock = time.monotonic(), self._now()
        messages = self._joint_states.take_all()
        if self._states is None:
            return
        for sample, stamp in self._read_states.samples(messages, self._states.reject):
            self._states.take_sample(*sample, stamp=stamp, clock=clock, received=now)

    def _on_trajectory(self, data: bytes) -> None:
        try:
            plan = self._plan_for(data)
        except (MalformedError, TrajectoryError, RequestRejectedError) as error:
            self._rejected[error.word] += 1
            self._rejected_last = str(error)
            self.get_logger().error(f'trajectory rejected: {error}')
            return
        message = serialize_message(plan.message)
        self._publisher.publish(message)
        self._passed_on += 1
        self._plan, self._rejected_last = plan, ''
        self.get_logger().info(f'trajectory passed on: {plan.summary}')
        if len(message) > LARGE_MESSAGE and self._controller.may_lose_messages:
            self.get_logger().warning(
                f'{self._controller.name} has a best-effort subscription and may lose so long a '
                'message; raise resample'
            )

    def _plan_for(self, data: bytes) -> EffortPlan:
        planner, states = self._ready()
        plan = planner.plan(decode_trajectory(data), self._now(), states.position, states.velocity)
        self._update()  # the robot may have moved during a long computation
        planner.check_start(plan, self._now(), states.position)
        return plan

    def _ready(self) -> tuple[EffortPlanner, JointStateMonitor]:
        """Return the planner and the joint states; reject requests while something is missing."""
        controller, states = self._controller, self._states
        if states is None:
            raise RequestRejectedError('no_robot_description', 'no robot_description received')
        if self._planner is None:
            raise RequestRejectedError(
                'no_joints', f'joints of {controller.name} unknown; start it, or set joints'
            )
        interfaces = controller.command_interfaces
        if interfaces is not None and 'effort' not in interfaces:
            raise RequestRejectedError(
                'no_effort_interface',
                f'{controller.name} commands {", ".join(interfaces)} and takes no efforts',
            )
        if not self._publisher.get_subscription_count():
            raise RequestRejectedError('no_subscriber', f'no subscriber on {self._topic}')
        timeout, age = self._values['joint_states_timeout'], states.age(time.monotonic())
        if age > timeout:
            missing = ', '.join(states.missing())
            detail = f'none received of {missing}' if missing else f'the newest is {age:.3f} s old'
            raise RequestRejectedError('joint_states_stale', detail)
        return self._planner, states

    def _now(self) -> float:
        """Return the node's time, s."""
        self.set_time()
        return float(1e-9 * self.get_clock().now().nanoseconds)

    def _publish_diagnostics(self) -> None:
        missing = word = ''
        try:
            self._ready()
        except RequestRejectedError as error:
            missing, word = str(error), error.word
        if word != self._logged_missing:
            self._logged_missing = word
            self.get_logger().info(f'waiting: {missing}' if missing else 'ready')
        complaint = missing or self._rejected_last
        values: dict[str, object] = {
            'ready': not missing,
            'missing': missing,
            'rejected_last': self._rejected_last,
            'passed_on': self._passed_on,
            **({} if self._plan is None else self._plan.values),
            **{f'count/rejected/{word}': count for word, count in self._rejected.items()},
        }
        level = DiagnosticStatus.WARN if complaint else DiagnosticStatus.OK
        self._diagnostics.publish(level, complaint or 'ready', values)

    def _on_set_parameters(self, changes: Sequence[Parameter]) -> SetParametersResult:
        """Check all changes together. They take effect later: another callback may reject them."""
        try:
            values, planner = values_of(self, changes), self._planner
            if self._model is not None and planner is not None:
                planner = EffortPlanner(self._model, planner.joints, values)
        except RneaError as error:
            return SetParametersResult(successful=False, reason=str(error))
        self._changed = values, planner
        return SetParametersResult(successful=True)

    def _after_set_parameters(self, _: Sequence[Parameter]) -> None:
        """Apply changes that every callback accepted."""
        self._values, self._planner = self._changed


def main(args: list[str] | None = None) -> int:
    """Run the node until a signal; return the exit code."""
    process = NodeProcess('trajectory_effort', ABOUT, described(PARAMETERS), args)
    node = process.create(TrajectoryEffort)
    process.spin(node)
    node.destroy_node()
    try_shutdown()
    return 0


if __name__ == '__main__':
    sys.exit(main())
