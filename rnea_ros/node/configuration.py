# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What lives from configure to cleanup: the loop's publishers; its joint states, wrenches, IMU."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

from geometry_msgs.msg import WrenchStamped
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.qos_overriding_options import QoSOverridingOptions
from rosgraph_msgs.msg import Clock as ClockMessage
from sensor_msgs.msg import Imu, JointState
from std_msgs.msg import Float64MultiArray

from ..feedforward.tare import TareOffsets
from ..ros import PolledSubscription, watchdog_topic
from .control_setup import ControlSetup
from .inputs import RawSubscription
from .outputs import Publishers

NEWEST = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
SENSOR_DATA = QoSProfile(depth=5, reliability=ReliabilityPolicy.BEST_EFFORT)

# A history for several publishers between two ticks. With a history of 1, the last publisher
# before a tick would replace the messages of the others.
JOINT_STATES = QoSProfile(depth=16, reliability=ReliabilityPolicy.BEST_EFFORT)


class Configuration:
    """
    Keeps the setup, which :meth:`change` replaces, and the topics, from configure to cleanup.

    Subscriptions are None where parameters do not need them. An error of a part destroys those
    that were made before it.

    :ivar offsets: tares of the force-torque sensors, for every control
    """

    def __init__(self, node: Any, setup: ControlSetup, command_topic: str) -> None:
        self._node = node
        self.setup = setup
        self.offsets: TareOffsets = {}
        logger = node.get_logger()
        for warning in setup.warnings:
            logger.warning(warning)
        settings = setup.settings
        with ExitStack() as resources:
            self._subscribe(node, resources, command_topic)
            self.publishers = Publishers(node, command_topic, settings)
            resources.callback(self.publishers.close)
            self._resources = resources.pop_all()
        self.additional_effort: RawSubscription | None = None
        self.change(setup)
        logger.info(
            f'{setup.model!r}: {settings.mode.name} at {settings.rate:g} Hz '
            f'on {command_topic} for {", ".join(settings.joints)}'
        )
        present = settings.zones.present
        if present.any():
            limited = [name for name, zone in zip(settings.joints, present, strict=True) if zone]
            logger.info(f'soft limits at {", ".join(limited)}')

    def _subscribe(self, node: Any, resources: ExitStack, command_topic: str) -> None:
        def subscribe(kind: Any, topic: str, qos: QoSProfile, **options: Any) -> Any:
            subscription: Any = PolledSubscription(node, kind, topic, qos, **options)
            resources.callback(subscription.destroy)
            return subscription

        setup, parameters = self.setup, self.setup.settings
        self.joint_states: RawSubscription = subscribe(
            JointState, 'joint_states', JOINT_STATES, raw=True,
            qos_overriding_options=QoSOverridingOptions.with_default_policies(),
        )
        self.wrenches: dict[str, RawSubscription] = {
            sensor.name: subscribe(WrenchStamped, sensor.topic, SENSOR_DATA, raw=True)
            for sensor in parameters.wrench_inputs
        }
        self.imu: RawSubscription | None = None
        if parameters.base_sensor is not None:
            self.imu = subscribe(Imu, parameters.base_sensor.topic, SENSOR_DATA, raw=True)
        self.controller_state: RawSubscription | None = None
        if setup.state_type is not None:
            topic = setup.parameters.reference.controller_state_topic
            self.controller_state = subscribe(setup.state_type, topic, NEWEST, raw=True)
        self.watchdog: PolledSubscription[Any] = subscribe(
            Float64MultiArray, watchdog_topic(command_topic), NEWEST
        )
        self.sim_clock: PolledSubscription[Any] | None = None
        if setup.parameters.values['use_sim_time']:
            self.sim_clock = subscribe(ClockMessage, '/clock', NEWEST)

    def change(self, setup: ControlSetup) -> None:
        """Replace the setup; subscribe to additional efforts once they may be above 0."""
        self.setup = setup
        if self.additional_effort is None and any(
            setup.settings.additional_effort.limits
        ):
            subscription: RawSubscription = PolledSubscription(
                self._node, JointState, '~/additional_effort', SENSOR_DATA, raw=True
            )
            self._resources.callback(subscription.destroy)
            self.additional_effort = subscription

    @property
    def inputs(self) -> list[PolledSubscription[Any]]:
        """All subscriptions that the loop reads, except ``/clock``."""
        optional = (self.imu, self.controller_state, self.additional_effort)
        others = [subscription for subscription in optional if subscription is not None]
        return [self.joint_states, *self.wrenches.values(), *others, self.watchdog]

    def close(self) -> None:
        """Destroy subscriptions and publishers."""
        self._resources.close()
