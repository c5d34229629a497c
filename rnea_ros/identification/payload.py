# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
A payload from a run that carries it: arm and friction are held, one rigid body is fitted.

The difference of two identified models is not a payload: small errors of all links add up in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from ..dynamics.tree import RigidBodyInertia
from ..errors import UnknownNameError
from ..feedforward.laws import JointFriction
from ..parameters import Value
from ..recordings.robust import huber_weights, weighted_rms
from ..robot import Payload, RobotModel
from .equations import Equations, triangular
from .fit import HUBER, Problem, log_det_derivatives, solve
from .jackknife import block_squares, inverse, jackknife
from .plausibility import LOAD_EXPLAINS
from .pseudo_inertia import about_centre, deviations_about_centre, pseudo_inertias, regular
from .run import IdentificationError, Run, check_model

PRIOR_WEIGHT = 1e-4  # of the prior, per sample: decides what the motion leaves open
START_MASS = 1.0  # mass of the prior in the first round, kg; later rounds take the result before
RADIUS = 0.05  # radius of gyration of the prior, m: a body of the size of a hand
ROUNDS = 4  # rounds of the fit, for noise, outliers, and friction that depends on the load

GAIN_ERROR = 0.05  # deviation of the gain that all effort sensors share; currents have more
SMOOTH = 10  # samples after which the errors of a model are still correlated, and noise is not
CERTAIN = 3.0  # least mass of a payload, in standard deviations


@dataclass(frozen=True)
class PayloadFit:
    """An identified payload."""

    payload: Payload  #: mass, centre of mass and inertia on a link
    #: standard deviation of the mass, kg; this and the others include the errors of the arm's
    #: model and of the efforts' gain
    mass_deviation: float
    com_deviation: Array  #: of the centre of mass, shape (3,), m
    inertia_deviation: Array  #: of the inertia about the centre of mass, shape (6,), kg m^2
    rms_without: Array  #: RMS error of each joint without the payload, shape (n,), N m or N
    rms_with: Array  #: the same with it
    at_rest: bool  #: only poses at rest were recorded, so the inertia is unknown and 0


def identify_payload(
    model: RobotModel, runs: Run | Sequence[Run], link: str, *,
    friction: JointFriction | None = None, armature: Array | None = None
) -> PayloadFit:
    """
    Return the payload on a link.

    :param model: the arm without the payload, best an identified one
    :param runs: clean runs with the payload
    :param link: name of the link that carries it
    :param friction: friction of the arm; None for none
    :param armature: reflected rotor inertia, shape (n,), kg m^2 or kg; None for none
    :raises UnknownNameError: the robot has no such link
    :raises IdentificationError: the link does not move, or the runs show no payload on it
    """
    check_model(model)
    friction = JointFriction.none(model.nv) if friction is None else friction
    equations = Equations(model, [runs] if isinstance(runs, Run) else list(runs))
    equations.used &= ~equations.winds
    at_rest = not equations.used.any()
    if at_rest:
        equations.use_poses()
    to_body = _in_body_parameters(model, link)
    rigid = equations.rigid(model)
    measured = equations.effort - rigid
    if armature is not None:
        measured = measured - armature * equations.qdd
    without = measured - friction.friction(equations.qd, rigid)
    J = START_MASS * RADIUS**2 * np.eye(3)
    phi = RigidBodyInertia(START_MASS, np.zeros(3), J).parameters
    used = weights = equations.used.astype(np.float64)
    sigma = rms_without = weighted_rms(without, used)
    carried, no_terms = np.zeros_like(rigid), np.zeros((*rigid.shape, 0))
    for _ in range(ROUNDS):
        effort = measured - friction.friction(equations.qd, rigid + carried)
        scale = np.where(sigma > 0.0, sigma, 1.0)
        all_bodies = equations.reduced(no_terms, effort, weights / scale**2)
        problem = _problem(phi, PRIOR_WEIGHT * len(equations))
        phi = solve(triangular(_on_link(all_bodies, to_body)), problem)
        mass, com, inertia = np.split(about_centre(phi), [1, 4])
        carried = equations.rigid(model.with_payload(link, mass[0], com, inertia)) - rigid
        residual = effort - carried
        sigma = weighted_rms(residual, weights)
        noise = np.where(sigma > 0.0, sigma, 1.0)
        weights = equations.used * huber_weights(residual, noise, HUBER)
    values = about_centre(phi)
    if at_rest:
        values[4:] = 0.0
    covariance = _covariance(
        equations, residual, weights / noise**2, to_body, problem.prior_derivatives(phi)
    )
    covariance += GAIN_ERROR**2 * np.outer(phi, phi)
    deviation = deviations_about_centre(phi, covariance)
    rms_with = weighted_rms(residual, used)
    before, after = (np.nansum((rms / noise) ** 2) for rms in (rms_without, rms_with))
    explained = before > 0.0 and 1.0 - after / before > LOAD_EXPLAINS
    if values[0] < CERTAIN * deviation[0] or not explained:
        raise IdentificationError(
            f'no payload is visible on {link}: its mass is {values[0]:.2f} +- '
            f'{deviation[0]:.2f} kg'
        )
    return PayloadFit(
        Payload(link, float(values[0]), values[1:4], values[4:]), float(deviation[0]),
        deviation[1:4], deviation[4:], rms_without, rms_with, at_rest
    )


def _covariance(
    equations: Equations, residual: Array, weights: Array, to_body: Array,
    prior: tuple[Array, Array]
) -> Array:
    """
    Return the covariance of a payload's parameters, by jackknife and by the arm's own errors.

    The arm's parameters have equal relative errors, as large as the smooth part of the residuals
    shows. The prior is its gradient and curvature.
    """
    squares = block_squares(equations, residual, weights, np.zeros((*residual.shape, 0)))
    own = np.array([_on_link(_on_link(each, to_body).T, to_body) for each in squares])
    M = squares.sum(axis=0)[:-1, :-1]
    arm = regular(equations.model.inertial_parameters)
    relative = np.zeros_like(M)
    for body, block in enumerate(log_det_derivatives(pseudo_inertias(arm))[1]):
        part = slice(10 * body, 10 * body + 10)
        relative[part, part] = np.linalg.inv(block)
    errors = np.nan_to_num(residual) * np.sqrt(weights)
    smooth = float((errors[:-SMOOTH] * errors[SMOOTH:]).sum())
    to_payload = inverse(to_body.T @ M @ to_body + prior[1]) @ to_body.T @ M
    # The payload has absorbed a part of these errors.
    size = max(smooth, 0.0) / np.trace((M - M @ to_body @ to_payload) @ relative)
    return np.asarray(jackknife(own, *prior) + size * to_payload @ relative @ to_payload.T)


def _on_link(factor: Array, to_body: Array) -> Array:
    """Return reduced equations of all bodies as equations of a body on a link."""
    return np.column_stack([factor[:, :-1] @ to_body, factor[:, -1]])


def payload_parameters(payload: Payload) -> dict[str, Value]:
    """Return the parameters of a payload of one link."""
    return {
        'payload.link': [payload.link],
        'payload.mass': [float(payload.mass)],
        'payload.com': np.asarray(payload.com, dtype=np.float64).tolist(),
        'payload.inertia': np.asarray(payload.inertia, dtype=np.float64).tolist(),
    }


def _in_body_parameters(model: RobotModel, link: str) -> Array:
    """Return the map of a payload's parameters in its link's frame to those of all bodies."""
    if link not in model.link_names:
        raise UnknownNameError('link', link, model.link_names)
    frames = model.tree.frames
    carriers = [name for name in model.body_names if frames[name].body == frames[link].body]
    if not carriers:
        raise IdentificationError(f'link {link!r} does not move, so no run shows its payload')
    placement = frames[carriers[0]].placement.inverse() @ frames[link].placement
    to_body = np.zeros((10 * len(model.body_names), 10))
    first = 10 * model.body_names.index(carriers[0])
    for k, unit in enumerate(np.eye(10)):
        moved = RigidBodyInertia.from_parameters(unit).transformed(placement)
        to_body[first : first + 10, k] = moved.parameters
    return to_body


def _problem(phi: Array, weight: float) -> Problem:
    """Return the prior: a ball with the mass and centre of mass found before."""
    body = RigidBodyInertia.from_parameters(phi)
    J_com = 0.4 * body.mass * RADIUS**2 * np.eye(3)
    prior = RigidBodyInertia.from_centre_of_mass(body.mass, body.com, J_com).parameters
    none = np.zeros(10, dtype=bool)
    return Problem(prior, weight, none, np.zeros(10), ~none, prior)
