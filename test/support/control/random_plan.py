# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A run of the random driver as plain data: a robot, settings, and events one after the other."""

from collections.abc import Callable
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


MIXED = (0.1, 0.6, -0.7, 0.2)
TWO_JOINTS = Robot(two_joint_arm, 2, (0.5, -0.8), (150.0,), (10.0,))
GRIPPER = Robot(mixed_arm, 3, MIXED, (1500.0, 150.0, 150.0), (200.0, 10.0, 10.0))
ALL_MIXED = Robot(mixed_arm, 4, MIXED, (*GRIPPER.kp, 20.0), (*GRIPPER.kd, 2.0))
PANDA = Robot(
    panda_arm, 7, PANDA_POSE, (*4 * (200.0,), 30.0, 30.0, 10.0), (*4 * (15.0,), 1.0, 1.0, 0.3)
)

OPTIONS: dict[str, tuple[Any, ...]] = {
    'robot': (TWO_JOINTS, GRIPPER, TWO_JOINTS, GRIPPER, ALL_MIXED, PANDA),
    'pose': (0.0, 0.2, -0.45),
    'first': (*4 * ('true',), 'zeros', 'far'),
    'arm_friction': (0.0, 0.5),
    'measures_effort': (False, True),
    'shaking': (0.0, 6.0),
    'rate': (250.0, 500.0),
    'mode': tuple(LAWS.values()),
    'ramp_duration': (0.2, 0.5, 0.02),
    'hold_duration': (0.3, 0.8, 0.05),
    'joint_states_timeout': (0.0, 0.03),
    'effort_rate_limit': ((0.0,), (3000.0,), (150.0,)),
    'damping': ((0.0,), (3.0,), (40.0,)),
    'friction': (
        FrictionSettings(),
        FrictionSettings(FrictionModel.PARAMETERS, viscous=(0.1,), coulomb=(0.3,)),
    ),
    'soft_limits': (SoftLimitSettings(), SoftLimitSettings((0.2,), (100.0,), (5.0,))),
    'hardware_compensates': (
        (), (HardwareCompensation.GRAVITY, HardwareCompensation.PAYLOAD),
        tuple(HardwareCompensation),
    ),
    'stale_action': tuple(StaleAction),
    'contact': tuple(ContactSettings(action) for action in ContactAction),
    'base_sensor': (
        None, BaseSensorSettings('imu'), BaseSensorSettings('imu', use=BaseUse.MOTION)
    ),
    'sensor': (False, True),
    'additional_effort': (AdditionalEffortSettings(), AdditionalEffortSettings((5.0,))),
    'predict_state': (False, True),
    'start_from_measured_effort': (True, False),
}
"""Values of settings of the scene and of the control, the plainest first."""

LOSSES = (0.01, 0.05, 0.3, 1.0)
MOTIONS = {
    'trajectory': (0.6, 1.2), 'join': (0.6, 1.2), 'stream': (1.0, 0.3),
    'controller_stream': (1.0, 0.3), 'wild_acceleration': (0.3,), 'wild_point_effort': (0.3,),
}
FAULTS = dict.fromkeys(('lost', 'frozen', 'not_finite', 'jump', 'too_fast'), LOSSES) | {
    'false_publisher': (1.5,), 'blocked': (0.005, 0.05, 0.15, 0.5), 'raise_error': (0.005, 0.05),
    'stop': (0.0,), 'fault': (0.0,),
}
OF_OTHERS = dict.fromkeys(
    ('other_not_finite', 'other_jump', 'other_too_fast', 'other_silent'), LOSSES
)
WILD = ('wild_effort', 'wild_acceleration', 'wild_point_effort')
REST = dict.fromkeys(
    ('cancel', 'decelerate', 'speed', 'mode', 'gains', 'payload', 'damp', 'tare'), (0.0,)
) | {'wild_effort': LOSSES, 'withhold': (0.005, 0.1, 0.8), 'add': (0.3,), 'push': (0.05, 0.3)}
EVENTS = MOTIONS | FAULTS | OF_OTHERS | REST
"""How long the effect of an event may last, s, by its kind."""

KINDS = (*EVENTS, *MOTIONS, 'trajectory', 'stream', 'join', 'withhold', 'withhold', 'frozen')
"""Kinds to draw from."""


class Event(NamedTuple):
    """An event: some ticks after the one before; size and joint vary it."""

    kind: str
    after: int
    size: int
    joint: int

    def one_of(self, *values: float) -> float:
        """Return one of some values, by the size."""
        return values[self.size % len(values)]


class Plan(NamedTuple):
    """A run: which values of :data:`OPTIONS`, where not the first ones; and events."""

    choices: dict[str, int]
    events: tuple[Event, ...]

    def values(self) -> dict[str, Any]:
        """Return the values of all options."""
        return {name: values[self.choices.get(name, 0)] for name, values in OPTIONS.items()}


def random_plan(number: Callable[[int], int]) -> Plan:
    """Return a plan; ``number`` returns a random number from 0 to below its argument."""
    choices = {
        name: number(len(values)) for name, values in OPTIONS.items()
        if name in ('robot', 'mode') or number(2)
    }
    events = (
        Event(KINDS[number(len(KINDS))], (1, 10, 40, 120)[number(4)], number(4), number(7))
        for _ in range(1 + number(8))
    )
    return Plan({name: choice for name, choice in choices.items() if choice}, tuple(events))


def plan_of_seed(seed: int) -> Plan:
    """Return the plan of a seed."""
    rng = np.random.default_rng(seed)
    return random_plan(lambda n: int(rng.integers(n)))


PLANS = st.composite(lambda draw: random_plan(lambda n: draw(st.integers(0, n - 1))))()
"""Plans for Hypothesis."""
