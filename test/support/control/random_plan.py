# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""What happens in a run of the random driver: settings and events, as plain data that shrinks."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from hypothesis import strategies as st
import numpy as np

from rnea_ros import RobotModel
from rnea_ros.feedforward.law import LAWS, FrictionModel, HardwareCompensation
from rnea_ros.feedforward.settings import (
    AdditionalEffortSettings,
    BaseSensorSettings,
    BaseUse,
    ContactAction,
    ContactSettings,
    FrictionSettings,
    SoftLimitSettings,
    StaleAction,
)
from support.control.control_rig import PANDA_POSE, mixed_arm, panda_arm, two_joint_arm


class Robot(NamedTuple):
    """A robot: its model, the number of commanded joints, its pose, and gains that suit it."""

    model: Callable[[], RobotModel]
    joints: int
    pose: tuple[float, ...]
    kp: tuple[float, ...]
    kd: tuple[float, ...]


ROBOTS = {
    'two_joints': Robot(two_joint_arm, 2, (0.5, -0.8), (150.0,), (10.0,)),
    'gripper': Robot(
        mixed_arm, 3, (0.1, 0.6, -0.7, 0.2), (1500.0, 150.0, 150.0), (200.0, 10.0, 10.0)
    ),
    'mixed': Robot(
        mixed_arm, 4, (0.1, 0.6, -0.7, 0.2), (1500.0, 150.0, 150.0, 20.0),
        (200.0, 10.0, 10.0, 2.0),
    ),
    'panda': Robot(
        panda_arm, 7, PANDA_POSE, (200.0,) * 4 + (30.0, 30.0, 10.0),
        (15.0,) * 4 + (1.0, 1.0, 0.3),
    ),
}

OPTIONS: Mapping[str, tuple[Any, ...]] = {
    'robot': ('two_joints', 'gripper', 'two_joints', 'gripper', 'mixed', 'panda'),
    'pose': (0.0, 0.4, -0.9),
    'arm_friction': ((0.2, 0.0), (0.5, 0.5)),
    'motor_efforts': (False, True),
    'first': ('true', 'zeros', 'far'),
    'sensor': (False, True),
    'shaking': (0.0, 3.0),
    'rate': (500.0, 250.0),
    'mode': tuple(LAWS.values()),
    'ramp_duration': (0.2, 0.5, 0.02),
    'hold_duration': (0.3, 0.05, 0.8),
    'joint_states_timeout': (0.0, 0.03),
    'effort_rate_limit': ((0.0,), (3000.0,), (150.0,)),
    'damping': ((0.0,), (3.0,), (40.0,)),
    'friction': (
        FrictionSettings(),
        FrictionSettings(FrictionModel.PARAMETERS, viscous=(0.1,), coulomb=(0.3,)),
    ),
    'soft_limits': (SoftLimitSettings(), SoftLimitSettings((0.2,), (100.0,), (5.0,))),
    'hardware_compensates': (
        (), (), (HardwareCompensation.GRAVITY, HardwareCompensation.PAYLOAD),
        tuple(HardwareCompensation),
    ),
    'stale_action': tuple(StaleAction),
    'contact': tuple(ContactSettings(action) for action in ContactAction),
    'base_sensor': (
        None, None, BaseSensorSettings('imu'), BaseSensorSettings('imu', use=BaseUse.MOTION)
    ),
    'additional_effort': (AdditionalEffortSettings(), AdditionalEffortSettings((5.0,))),
    'predict_state': (False, True),
    'start_from_measured_effort': (True, False),
}
"""Values of settings of the control and of the scene, the plainest first."""

MOTIONS = ('trajectory', 'join', 'stream', 'controller_stream', 'cancel', 'decelerate', 'speed')
CHANGES = ('mode', 'payload', 'damp', 'tare', 'add', 'push')
FAULTS = (
    'lost', 'frozen', 'not_finite', 'jump', 'too_fast', 'false_publisher', 'blocked', 'raise_error'
)
OF_OTHERS = ('other_not_finite', 'other_jump', 'other_too_fast', 'other_silent')
WILD = ('wild_effort', 'wild_acceleration', 'wild_point_effort')
ENDS = ('withhold', 'withhold', 'stop', 'fault')
KINDS = (*MOTIONS, *MOTIONS, *CHANGES, *FAULTS, *OF_OTHERS, *WILD, *ENDS)


class Event(NamedTuple):
    """
    Something that happens.

    :param kind: one of :data:`KINDS`
    :param after: ticks after the event before
    :param size: how long or how much, from 0 to 1
    :param joint: which joint, or which variety
    """

    kind: str
    after: int
    size: float
    joint: int

    def one_of(self, *values: float) -> float:
        """Return the value for the size; values increase with it."""
        return values[min(int(self.size * len(values)), len(values) - 1)]


class Plan(NamedTuple):
    """A run: one value of each of :data:`OPTIONS`, and events."""

    choices: dict[str, Any]
    events: tuple[Event, ...]


PLANS = st.builds(
    Plan,
    st.fixed_dictionaries({name: st.sampled_from(values) for name, values in OPTIONS.items()}),
    st.lists(
        st.builds(
            Event, st.sampled_from(KINDS), st.integers(0, 150), st.sampled_from((0.0, 0.4, 0.8)),
            st.integers(0, 6),
        ),
        max_size=10,
    ).map(tuple),
)
"""Plans for Hypothesis."""


def random_plan(seed: int) -> Plan:
    """Return the plan of a seed; half of the settings are the plainest."""
    rng = np.random.default_rng(seed)
    choices = {
        name: values[int(rng.integers(len(values))) * int(rng.random() < 0.5)]
        for name, values in OPTIONS.items()
    }
    for name in ('robot', 'mode'):
        choices[name] = OPTIONS[name][rng.integers(len(OPTIONS[name]))]
    events = tuple(
        Event(
            KINDS[rng.integers(len(KINDS))], int(rng.integers(150)), float(rng.random()),
            int(rng.integers(7)),
        )
        for _ in range(rng.integers(1, 9))
    )
    return Plan(choices, events)
