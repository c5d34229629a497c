# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The simulated robot of the demo; it differs from the node's model as a real robot does."""

from __future__ import annotations

from dataclasses import dataclass
from xml.etree import ElementTree

import numpy as np

from ...arrays import Array
from ...urdf import parse_xml
from .arm import DemoArm

FRICTION = 0.01  # Coulomb, and viscous at the velocity limit, as shares of the effort limit
STICTION = 0.02  # greatest error at rest by Coulomb friction, under feedback, rad or m
SENSOR_NOISE = 2e-5, 5e-3, 0.1  # of positions, velocities, efforts: rad or m, per s; N m or N
NOISE_SHARE = 0.01  # greatest noise of the efforts, as a share of the motion's greatest effort
DELAY = 2  # of commands, ms
SEED = 1  # of the differences between robot and model
SMOOTHING_VELOCITY = 0.02  # of the node's friction compensation, rad/s or m/s

PERFECT = 'The robot equals the model: no friction, no noise, no delay.'


@dataclass(frozen=True)
class ModelMismatch:
    """Ranges of relative differences of the robot from what the node knows about it."""

    mass: tuple[float, float]  # of masses, and of inertias with them
    centre: tuple[float, float]  # of centres of mass
    friction: tuple[float, float]  # of friction and rotor inertia

    def __str__(self) -> str:
        return (
            "The robot differs from the node's model: masses by "
            f'{_percent(self.mass)}, centres of mass by {_percent(self.centre)},\n'
            f'friction and rotor inertia by {_percent(self.friction)}; sensors have noise,\n'
            f'commands are delayed by {DELAY} ms.'
        )


GOOD_MODEL = ModelMismatch((-0.1, 0.1), (-0.1, 0.1), (-0.2, 0.2))  # made with care
POOR_MODEL = ModelMismatch((-0.5, -0.35), (-0.1, 0.1), (-0.3, 0.3))  # from CAD: solid parts


@dataclass(frozen=True)
class DemoRobot:
    """A simulated robot and the parameters of its control."""

    urdf: str  # of the simulated robot
    simulation: dict[str, object]  # parameters of ``simulated_robot``
    control: dict[str, object]  # parameters of ``feedforward``: its friction and rotor inertia
    difference: str  # differences between robot and model, for the user


def perfect(arm: DemoArm) -> DemoRobot:
    """Return a robot that equals its model."""
    armature: dict[str, object] = {'armature': arm.plan.armature.tolist()}
    return DemoRobot(arm.urdf, armature, armature, PERFECT)


def realistic(arm: DemoArm, errors: ModelMismatch, seed: int = SEED) -> DemoRobot:
    """Return a robot that differs from its model."""
    random = np.random.default_rng(seed)
    numbers = [arm.model.joint_names.index(name) for name in arm.joints]
    coulomb = np.minimum(
        FRICTION * arm.model.effort_limits[numbers],
        # Some URDFs have limits far above what the motors can do.
        STICTION * arm.plan.kp * arm.plan.inertia,
    )
    known = {
        'friction.coulomb': coulomb,
        'friction.viscous': coulomb / arm.model.velocity_limits[numbers],
        'armature': arm.plan.armature,
    }
    true = {
        name: values * _factors(random, values.size, errors.friction)
        for name, values in known.items()
    }
    position, velocity, effort = SENSOR_NOISE
    return DemoRobot(
        urdf=with_model_error(arm.urdf, errors, random),
        simulation={
            'extra_friction': true['friction.coulomb'].tolist(),
            'extra_damping': true['friction.viscous'].tolist(),
            'armature': true['armature'].tolist(),
            'noise.position': position,
            'noise.velocity': velocity,
            'noise.effort': min(effort, NOISE_SHARE * float(arm.plan.effort.max())),
            'noise.seed': seed,
            'command_delay': DELAY,
        },
        control={
            **{name: values.tolist() for name, values in known.items()},
            'friction.model': 'parameters',
            'friction.velocity': 'desired',
            'friction.smoothing_velocity': [SMOOTHING_VELOCITY],
        },
        difference=str(errors),
    )


def with_model_error(urdf: str, error: ModelMismatch, random: np.random.Generator) -> str:
    """
    Return a URDF with random relative errors of masses, centres of mass and inertias.

    One factor for mass and inertia of a link keeps the inertia physical.
    """
    robot = parse_xml(urdf)
    for inertial in robot.iter('inertial'):
        mass, origin, inertia = (inertial.find(tag) for tag in ('mass', 'origin', 'inertia'))
        factor = float(_factors(random, 1, error.mass)[0])
        if mass is not None:
            mass.set('value', repr(factor * float(mass.get('value', '0'))))
        if inertia is not None:
            for name, value in inertia.attrib.items():
                inertia.set(name, repr(factor * float(value)))
        if origin is not None and 'xyz' in origin.attrib:
            centre = np.array(origin.attrib['xyz'].split(), dtype=float)
            centre *= _factors(random, 3, error.centre)
            origin.set('xyz', ' '.join(map(repr, centre.tolist())))
    return ElementTree.tostring(robot, encoding='unicode')


def _factors(random: np.random.Generator, count: int, error: tuple[float, float]) -> Array:
    """Return random factors: 1 and an error between two ends."""
    return 1.0 + random.uniform(*error, count)


def _percent(error: tuple[float, float]) -> str:
    least, greatest = error
    return f'{100.0 * least:+.0f} to {100.0 * greatest:+.0f} %'
