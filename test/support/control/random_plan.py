# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A run of the random driver as plain data: a robot, settings, and events one after the other."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from rnea_ros import RobotModel
from rnea_ros.feedforward.laws import LAWS, FrictionModel
from rnea_ros.feedforward.loaded_model import HardwareCompensation
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
    'reversed': (False, False, True),
    'pose': (0.0, 0.2, -0.45),
    'first': (*4 * ('true',), 'zeros', 'far'),
    'permitted_after': (0.0, 0.0, 0.05),
    'longest_stall': (0.0, 0.0, 0.0, 0.0, 0.02, 0.15, 0.5),
    'arm_friction': (0.0, 0.5),
    'measures_effort': (False, True),
    'shaking': (0.0, 6.0),
    'rate': (250.0, 250.0, 500.0),
    'mode': tuple(LAWS.values()),
    'ramp_duration': (0.2, 0.5, 0.02),
    'hold_duration': (0.3, 0.8, 0.05),
    'joint_states_timeout': (0.0, 0.03),
    'effort_limits': (*7 * ((0.0,),), (6.0,)),
    'effort_rate_limit': ((0.0,), (3000.0,), (150.0,)),
    'damping': ((0.0,), (3.0,), (10.0,)),
    'friction': (
        FrictionSettings(),
        FrictionSettings(FrictionModel.PARAMETERS, viscous=(0.1,), coulomb=(0.3,)),
    ),
    'soft_limits': (SoftLimitSettings(), SoftLimitSettings((0.2,), (100.0,), (1.0,))),
    'hardware_compensates': (
        (), (HardwareCompensation.GRAVITY, HardwareCompensation.PAYLOAD),
        tuple(HardwareCompensation),
    ),
    'stale_action': tuple(StaleAction),
    'contact': tuple(
        ContactSettings(action, threshold=(threshold,))
        for action in ContactAction for threshold in (0.0, 3.0)
    ),
    'base_sensor': (
        None, *(BaseSensorSettings('imu', use=use, timeout=0.1, fade=0.1) for use in BaseUse)
    ),
    'sensors': (False, True),
    'additional_effort': (AdditionalEffortSettings(), *2 * (AdditionalEffortSettings((5.0,)),)),
    'predict_state': (False, True),
    'differentiate_velocity': (False, False, False, True),
    'start_from_measured_effort': (True, False),
}
"""Values of settings of the scene and of the control, the plainest first."""

LOSSES = (0.01, 0.05, 0.3, 1.0)
MOTIONS = {
    'trajectory': (0.6, 1.2), 'join': (0.6, 1.2), 'stream': (1.0, 0.3), 'policy': (2.0, 0.5),
    'controller_stream': (1.0, 0.3), 'wild_acceleration': (0.3,), 'wild_point_effort': (0.3,),
}
FAULTS = dict.fromkeys(('lost', 'frozen', 'not_finite', 'jump', 'too_fast'), LOSSES) | {
    'false_publisher': (1.5,), 'blocked': (0.005, 0.05, 0.15, 0.5), 'raise_error': (0.005, 0.05),
    'stop': (0.0,), 'fault': (0.0,), 'nonsense': (0.0,),
}
OF_OTHERS = dict.fromkeys(
    ('other_not_finite', 'other_jump', 'other_too_fast', 'other_silent'), LOSSES
)
WILD = ('wild_effort', 'wild_acceleration', 'wild_point_effort')
REST = dict.fromkeys(
    ('cancel', 'decelerate', 'speed', 'mode', 'gains', 'losses', 'payload', 'damp', 'listen',
     'clock_step'), (0.0,)
) | {
    'wild_effort': LOSSES, 'withhold': (0.005, 0.1, 0.8), 'add': (0.3,), 'push': (0.05, 0.3),
    'tare': (0.0, 0.3), 'silent': (0.3,), 'flags': (0.05,),
}
MESSAGES = dict.fromkeys(
    ('forms', 'bad_joint_states', 'bad_wrenches', 'bad_imus', 'bad_efforts'), (0.05, 0.3)
)
EVENTS = MOTIONS | FAULTS | OF_OTHERS | REST | MESSAGES
"""How long the effect of an event may last, s, by its kind."""

CALM = (*MOTIONS, *MOTIONS, *OF_OTHERS, *REST, *MESSAGES, *MESSAGES)
ROUGH = (*FAULTS, *WILD, 'blocked', 'lost', 'frozen', 'withhold', 'withhold')
"""Kinds to draw from: that end no control, and that may end or interrupt one."""


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

    seed: int
    choices: dict[str, int]
    events: tuple[Event, ...]

    def values(self) -> dict[str, Any]:
        """Return the values of all options."""
        return {name: values[self.choices.get(name, 0)] for name, values in OPTIONS.items()}


def plan_of_seed(seed: int) -> Plan:
    """Return the plan of a seed."""
    rng = np.random.default_rng(seed)

    def number(n: int) -> int:
        return int(rng.integers(n))

    choices = {
        name: number(len(values)) for name, values in OPTIONS.items()
        if name in ('robot', 'mode') or number(2)
    }
    kinds = [CALM] * (1 + number(8)) + [ROUGH] * number(3) + [CALM + ROUGH] * number(3)
    events = (
        Event(drawn[number(len(drawn))], (1, 10, 40, 120)[number(4)], number(12), number(7))
        for drawn in kinds
    )
    return Plan(seed, {name: choice for name, choice in choices.items() if choice}, tuple(events))
