# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What one configure makes: a robot, its settings, and the topics that the loop works on."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

from geometry_msgs.msg import WrenchStamped
import numpy as np
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.qos_overriding_options import QoSOverridingOptions
from rosgraph_msgs.msg import Clock as ClockMessage
from sensor_msgs.msg import Imu, JointState

from ..feedforward.checks import SettingsError
from ..feedforward.controller_state import ReferenceSource
from ..feedforward.settings import ResolvedSettings, resolve
from ..feedforward.speed_scaling import ScalingUnit
from ..feedforward.trajectory_rules import JointRules, StartFrom
from ..robot import RobotModel
from ..urdf import parse_urdf
from . import parameters
from .controller_joints import ControllerJoints, difference
from .controller_state_input import controller_state_type
from .direct import DirectSubscription
from .inputs import Raw
from .publishers import Publishers
from .schedule import Trigger

NEWEST = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
SENSOR_DATA = QoSProfile(depth=5, reliability=ReliabilityPolicy.BEST_EFFORT)

JOINT_STATES = QoSProfile(depth=16, reliability=ReliabilityPolicy.BEST_EFFORT)
"""
Room for what several publishers send between two ticks.

With room for one, whoever sends last in a tick would push out the joints of the others.
"""


class Configuration:
    """
    Holds from configure to cleanup.

    :param node: the node
    :param values: parameter values by name
    :param urdf: the robot
    :param controller: the joints of the effort controller, where it has named them
    :raises RneaError: anything that cannot be used; nothing is left behind then
    :ivar listed_joints: whether the user listed the joints
    """

    def __init__(
        self,
        node: Any,
        values: Mapping[str, Any],
        urdf: str,
        controller: ControllerJoints,
    ) -> None:
        logger = node.get_logger()
        description = parse_urdf(urdf, strict_inertia=values['strict_inertia'])
        for warning in description.warnings:
            logger.warning(warning)
        self.model = RobotModel.from_description(description, gravity=values['gravity'])
        listed = parameters.listed_joints(values)
        self.listed_joints = bool(listed)
        if listed and controller.joints and listed != controller.joints:
            raise SettingsError(
                'joints',
                f'{controller.controller} takes commands {difference(controller.joints, listed)}',
            )
        joints = listed or controller.joints or ()
        self.settings = resolve(parameters.settings_from(values, joints), self.model)
        self.rules = joint_rules(values, self.model, self.settings)
        self.differentiate_velocity: bool = values['differentiate_velocity']
        self.trigger = Trigger(values['trigger'])
        self.realtime = parameters.realtime_from(values)
        self.reference_source = ReferenceSource(values['reference_source'])
        # Before any topic is made: the package may be missing.
        state_type = None
        if self.reference_source is ReferenceSource.CONTROLLER_STATE:
            state_type = controller_state_type()
        self.speed_scaling_topic: str = values['speed_scaling_topic']
        self.speed_scaling_unit = ScalingUnit(values['speed_scaling_unit'])

        with ExitStack() as resources:
            self._make_topics(node, values, state_type, resources)
            self.publishers = Publishers(
                node, controller.topic, joints, self.settings.settings.period
            )
            resources.callback(self.publishers.close)
            self._resources = resources.pop_all()
        logger.info(
            f'{self.model!r}: {values["mode"]} at {values["rate"]:g} Hz '
            f'on {controller.topic} for {", ".join(joints)}'
        )

    def _make_topics(
        self, node: Any, values: Mapping[str, Any], state_type: Any, resources: ExitStack
    ) -> None:
        def subscribe(kind: Any, topic: str, qos: QoSProfile, **options: Any) -> Any:
            subscription: Any = DirectSubscription(node, kind, topic, qos, **options)
            resources.callback(subscription.destroy)
            return subscription

        self.joint_states: Raw = subscribe(
            JointState,
            'joint_states',
            JOINT_STATES,
            raw=True,
            qos_overriding_options=QoSOverridingOptions.with_default_policies(),
        )
        self.wrenches: dict[str, Raw] = {
            sensor.name: subscribe(WrenchStamped, sensor.topic, SENSOR_DATA, raw=True)
            for sensor in self.settings.settings.wrench_inputs
        }
        self.imu: Raw | None = None
        if values['base_sensor.topic']:
            self.imu = subscribe(Imu, values['base_sensor.topic'], SENSOR_DATA, raw=True)
        self.controller_state: Raw | None = None
        if state_type is not None:
            topic = values['controller_state_topic']
            self.controller_state = subscribe(state_type, topic, NEWEST, raw=True)
        self.sim_clock: DirectSubscription[Any] | None = None
        if node.get_parameter('use_sim_time').value:
            self.sim_clock = subscribe(ClockMessage, '/clock', NEWEST)

    @property
    def inputs(self) -> list[DirectSubscription[Any]]:
        """What the loop reads."""
        there_perhaps = (self.imu, self.controller_state)
        others = [subscription for subscription in there_perhaps if subscription is not None]
        return [self.joint_states, *self.wrenches.values(), *others]

    def resolve_change(self, values: Mapping[str, Any]) -> ResolvedSettings:
        """
        Return the settings for changed parameter values.

        :raises SettingsError: a value that cannot be used
        """
        settings = parameters.settings_from(values, self.settings.joints)
        return resolve(settings, self.model)

    def close(self) -> None:
        """Take the topics down."""
        self._resources.close()


def joint_rules(
    values: Mapping[str, Any], model: RobotModel, settings: ResolvedSettings
) -> JointRules:
    """
    Return what motions of the commanded joints are held to.

    :param values: parameter values by name
    :param model: the robot
    :param settings: of the control
    """
    commanded = settings.in_model
    speeds = model.velocity_limits[commanded]
    return JointRules(
        joint_names=settings.joints,
        lower=model.position_lower[commanded],
        upper=model.position_upper[commanded],
        continuous=model.continuous[commanded],
        # Many URDFs have a limit of 0 where nobody knew it.
        velocity_limits=np.where(speeds > 0.0, speeds, np.inf),
        start_tolerance=values['start_tolerance'],
        allow_partial_joints=values['allow_partial_joints'],
        allow_nonzero_final_velocity=values['allow_nonzero_final_velocity'],
        use_efforts=values['use_trajectory_effort'],
        start_from=StartFrom(values['trajectory_start_from']),
    )
