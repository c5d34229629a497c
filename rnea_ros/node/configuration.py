# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What lives from configure to cleanup: the setup, the topics of the loop, the tares."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

from geometry_msgs.msg import WrenchStamped
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.qos_overriding_options import QoSOverridingOptions
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Imu, JointState
from std_msgs.msg import Float64MultiArray

from ..feedforward.tare import TareOffsets
from ..ros import PolledSubscription, watchdog_topic
from .control_setup import ControlSetup
from .publishers import Publishers

NEWEST = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
SENSOR_DATA = QoSProfile(depth=5, reliability=ReliabilityPolicy.BEST_EFFORT)

# A history for several publishers between two ticks. With a history of 1, the last publisher
# before a tick would replace the messages of the others.
JOINT_STATES = QoSProfile(depth=16, reliability=ReliabilityPolicy.BEST_EFFORT)


class Configuration:
    """
    Keeps the setup, which :meth:`change` replaces, and the topics.

    Subscriptions are None where parameters do not need them. An error of a part destroys those
    that were made before it.

    :ivar offsets: tares of the force-torque sensors, for every control
    """

    imu: PolledSubscription[bytes] | None
    controller_state: PolledSubscription[bytes] | None
    additional_effort: PolledSubscription[bytes] | None
    sim_clock: PolledSubscription[Any] | None

    def __init__(self, node: Any, setup: ControlSetup, command_topic: str) -> None:
        self._node, settings, logger = node, setup.settings, node.get_logger()
        self.offsets: TareOffsets = {}
        self._subscriptions: list[PolledSubscription[Any]] = []
        for warning in setup.warnings:
            logger.warning(warning)
        self._resources = ExitStack()
        with ExitStack() as unless_complete:
            unless_complete.callback(self.close)
            self._subscribe_all(setup, command_topic)
            self.publishers = Publishers(node, command_topic, settings)
            self._resources.callback(self.publishers.close)
            self.change(setup)
            unless_complete.pop_all()
        logger.info(
            f'{setup.model!r}: {settings.mode.name} at {settings.rate:g} Hz '
            f'on {command_topic} for {", ".join(settings.joints)}'
        )
        present = settings.zones.present
        if present.any():
            limited = [name for name, zone in zip(settings.joints, present, strict=True) if zone]
            logger.info(f'soft limits at {", ".join(limited)}')
        if setup.rest is not None:
            efforts = abs(setup.rest.gravity).tolist()
            logger.info(
                f'rest_pose: friction or a support must carry {max(efforts):.3g} N m or N there, '
                f'at {settings.joints[efforts.index(max(efforts))]}'
            )

    def _subscribe_all(self, setup: ControlSetup, command_topic: str) -> None:
        settings = setup.settings
        self.joint_states: PolledSubscription[bytes] = self._subscribe(
            JointState, 'joint_states', JOINT_STATES,
            qos_overriding_options=QoSOverridingOptions.with_default_policies(),
        )
        self.wrenches: dict[str, PolledSubscription[bytes]] = {
            sensor.name: self._subscribe(WrenchStamped, sensor.topic)
            for sensor in settings.wrench_inputs
        }
        self.watchdog: PolledSubscription[Any] = self._subscribe(
            Float64MultiArray, watchdog_topic(command_topic), NEWEST, raw=False
        )
        self.imu = self.controller_state = self.additional_effort = self.sim_clock = None
        if settings.base_sensor is not None:
            self.imu = self._subscribe(Imu, settings.base_sensor.topic)
        if setup.state_type is not None:
            topic = setup.parameters.reference.controller_state_topic
            self.controller_state = self._subscribe(setup.state_type, topic, NEWEST)
        if setup.parameters.values['use_sim_time']:
            self.sim_clock = self._subscribe(Clock, '/clock', NEWEST, raw=False)

    def _subscribe(
        self, kind: Any, topic: str, qos: QoSProfile = SENSOR_DATA, *, raw: bool = True,
        **options: Any,
    ) -> Any:
        subscription: Any = PolledSubscription(self._node, kind, topic, qos, raw=raw, **options)
        self._resources.callback(subscription.destroy)
        self._subscriptions.append(subscription)
        return subscription

    def change(self, setup: ControlSetup) -> None:
        """Replace the setup; subscribe to additional efforts once they may be above 0."""
        self.setup = setup
        if self.additional_effort is None and any(setup.settings.additional_effort.limits):
            self.additional_effort = self._subscribe(JointState, '~/additional_effort')

    def discard_messages(self) -> None:
        """Discard the messages that were received without a control, except the time."""
        for subscription in self._subscriptions:
            if subscription is not self.sim_clock:
                subscription.take()

    def close(self) -> None:
        """Destroy subscriptions and publishers."""
        self._resources.close()
