# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The demo's simulated robot, which differs from the node's model as a real robot does."""

from __future__ import annotations

from dataclasses import dataclass
from xml.etree import ElementTree

import numpy as np

from ...arrays import Array
from ...robot import RobotModel
from ...urdf import parse_xml

MODEL_ERROR = 0.1
"""Greatest relative error of masses and centres of mass."""

FRICTION_ERROR = 0.2
"""Greatest relative error of the friction and rotor inertia that the node compensates."""

COULOMB, VISCOUS = 0.01, 0.01
"""Friction at full speed, as parts of the effort limit."""

ARMATURE = 0.1
"""Rotor inertia behind the gear, kg m^2 or kg."""

POSITION_NOISE, VELOCITY_NOISE, EFFORT_NOISE = 2e-5, 5e-3, 0.1
"""Standard deviations, rad or m, rad/s or m/s, N m or N."""

DELAY = 2
"""From a command to its effect, ms."""

SMOOTHING_VELOCITY = 0.02
"""Of the friction that the node compensates, rad/s or m/s."""

DIFFERENCE = f"""\
The robot differs from the node's model: masses and centres of mass by up to {MODEL_ERROR:.0%},
friction and rotor inertia by up to {FRICTION_ERROR:.0%} of what the node compensates; \
sensors have noise,
commands act {DELAY} ms late. Without these differences: --perfect-model."""

PERFECT = 'The robot is exactly the model: no friction, no noise, no delay.'


@dataclass(frozen=True)
class DemoRobot:
    """
    A robot and what the node knows of it.

    :param urdf: the true description of the robot, URDF text
    :param simulation: parameters of ``simulated_robot``
    :param control: parameters of ``feedforward``: friction and rotor inertia as identified
    :param armature: the rotor inertia that the node assumes, shape (m,), kg m^2 or kg
    :param difference: what differs, for the user
    """

    urdf: str
    simulation: dict[str, object]
    control: dict[str, object]
    armature: Array
    difference: str


def perfect(urdf: str, joints: tuple[str, ...]) -> DemoRobot:
    """Return a robot that equals its model."""
    return DemoRobot(urdf, {}, {}, np.zeros(len(joints)), PERFECT)


def realistic(urdf: str, model: RobotModel, joints: tuple[str, ...], seed: int) -> DemoRobot:
    """
    Return a robot that differs from its model.

    :param urdf: the description that the node uses, URDF text
    :param model: the model of that description
    :param joints: the commanded joints
    :param seed: of the random differences
    """
    random = np.random.default_rng(seed)
    numbers = [model.joint_names.index(name) for name in joints]
    limits = model.effort_limits[numbers]
    limits = np.where(np.isfinite(limits) & (limits > 0.0), limits, 10.0)
    speeds = model.velocity_limits[numbers]
    speeds = np.where(np.isfinite(speeds) & (speeds > 0.0), speeds, 1.0)
    known = {
        'friction.coulomb': COULOMB * limits,
        'friction.viscous': VISCOUS * limits / speeds,
        'armature': np.full(len(joints), ARMATURE),
    }
    true = {
        name: values * _factors(random, values.size, FRICTION_ERROR)
        for name, values in known.items()
    }
    return DemoRobot(
        urdf=with_model_error(urdf, random),
        simulation={
            'extra_friction': true['friction.coulomb'].tolist(),
            'extra_damping': true['friction.viscous'].tolist(),
            'armature': true['armature'].tolist(),
            'noise.position': POSITION_NOISE,
            'noise.velocity': VELOCITY_NOISE,
            'noise.effort': EFFORT_NOISE,
            'noise.seed': seed,
            'command_delay': DELAY,
        },
        control={
            **{name: values.tolist() for name, values in known.items()},
            'friction.model': 'parameters',
            'friction.velocity': 'desired',
            'friction.smoothing_velocity': [SMOOTHING_VELOCITY],
        },
        armature=known['armature'],
        difference=DIFFERENCE,
    )


def with_model_error(urdf: str, random: np.random.Generator) -> str:
    """
    Return a description whose masses, centres of mass and inertias differ at random.

    The inertia of a link about its centre of mass is multiplied as its mass is, so that a real
    body can have it.

    :param urdf: URDF text
    :param random: draws each factor between 1 - MODEL_ERROR and 1 + MODEL_ERROR
    """
    robot = parse_xml(urdf)
    for inertial in robot.iter('inertial'):
        mass, origin, inertia = (inertial.find(tag) for tag in ('mass', 'origin', 'inertia'))
        factor = float(_factors(random, 1, MODEL_ERROR)[0])
        if mass is not None:
            mass.set('value', repr(factor * float(mass.get('value', '0'))))
        if inertia is not None:
            for name, value in inertia.attrib.items():
                inertia.set(name, repr(factor * float(value)))
        if origin is not None and 'xyz' in origin.attrib:
            centre = np.array(origin.attrib['xyz'].split(), dtype=float)
            centre *= _factors(random, 3, MODEL_ERROR)
            origin.set('xyz', ' '.join(map(repr, centre.tolist())))
    return ElementTree.tostring(robot, encoding='unicode')


def _factors(random: np.random.Generator, count: int, most: float) -> Array:
    """Return factors about 1."""
    return 1.0 + random.uniform(-most, most, count)
