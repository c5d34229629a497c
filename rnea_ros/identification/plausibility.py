# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Plausibility of runs and fits: enough motion, one load, no delay, no faults, possible masses.

A physical body may still be an impossible one, such as a flange whose centre of mass lies 0.1 m
beside it. Soft bounds decide where the efforts leave it open; efforts that contradict them
prevail.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..dynamics.tree import Placement
from ..errors import InputError, UrdfError
from ..preflight import Assessment, Cause, Finding, Prediction, another_robot, find_faults
from ..recordings import MIN_POSES, Kind, Samples
from ..robot import RobotModel
from ..urdf import RobotDescription, Shape, collision_shapes, mesh_path, mesh_triangles
from .equations import TERMS, Equations, terms, triangular
from .rounds import Fitted, weighted_rms
from .run import IdentificationError, Run

MIN_TIME = 5.0  # least duration of the fitted runs, s: a few changes of direction of every joint
SAMPLES = 10000  # samples that are enough for the search of a changed load
NOTICEABLE_DELAY = 0.01  # delay that is noted, s; 20 ms can double the errors of a model

LOAD_EXPLAINS = 0.3  # least share of the squared residuals that a changed load explains


def check_runs(model: RobotModel, runs: Sequence[Run]) -> None:
    """Raise an error if runs lack the motion, or poses at rest, to identify a model."""
    if not runs:
        raise IdentificationError('no run is given')
    for run in runs[1:]:
        if run.joints != runs[0].joints:
            raise IdentificationError(
                f'{run.name} has the joints {", ".join(run.joints)}, {runs[0].name} has '
                f'{", ".join(runs[0].joints)}; identify them one by one'
            )
    names = ', '.join(run.name for run in runs)
    if not any(np.isfinite(run.effort).any() for run in runs):
        raise IdentificationError(f'{names}: no joint has an effort that changes')
    equations = Equations(model, runs)
    poses = not equations.qd.any() and np.ptp(equations.q, axis=0).any()
    if poses and len(equations) >= MIN_POSES:
        return
    moving = np.flatnonzero(equations.slides.any(axis=0))
    if not moving.size:
        raise IdentificationError(f'{names}: no joint moves; record an exciting motion, or '
            f'{MIN_POSES} poses at rest')
    if len(moving) == 1 < len(runs[0].joints):
        joint = model.joint_names[moving[0]]
        raise IdentificationError(
            f'{names}: only {joint} moves; move all joints, as a trajectory of excite does'
        )
    if not equations.used.any():
        raise IdentificationError(f'{names}: no joint with an effort moves')
    moves = np.atleast_1d(equations.slides.any(axis=1))
    duration = lost = 0.0
    for number, run in enumerate(runs):
        interval = float(np.median(np.diff(run.time)))
        duration += np.count_nonzero(moves & (equations.run == number)) * interval
        lost += run.time[-1] - run.time[0] - (len(run.time) - 1) * interval
    if duration < MIN_TIME:
        gaps = f'; gaps in the joint states cost {lost:.1f} s' if lost > duration else ''
        raise IdentificationError(
            f'{names}: {duration:.1f} s of motion to fit; at least {MIN_TIME:g} s are needed{gaps}'
        )


def check_same_load(equations: Equations, fitted: Fitted, runs: Sequence[Run]) -> None:
    """
    Raise an error if a run has another load at the tip of the arm.

    A mass and a first moment for each run are fitted to the residuals. Without a change of the
    load they explain little.
    """
    model = equations.model
    tip = len(model.body_names) - 1
    step = 1 + len(equations) // SAMPLES
    q, qd, qdd = (each[::step] for each in (equations.q, equations.qd, equations.qdd))
    columns = model.regressor_batch(q, qd, qdd)[:, :, 10 * tip : 10 * tip + 4]
    used = equations.used[::step]
    root = np.where(used, 1.0 / fitted.sigma, 0.0)
    residual = np.where(used, fitted.residual[::step], 0.0) * root
    columns = columns * root[:, :, np.newaxis]
    rest, masses = residual.copy(), []
    for number in range(len(runs)):
        which = equations.run[::step] == number
        A, y = columns[which].reshape(-1, 4), residual[which].reshape(-1)
        load = np.linalg.lstsq(A, y, rcond=None)[0]
        rest[which] -= (A @ load).reshape(-1, model.nv)
        masses.append(float(load[0]))
    least, most = int(np.argmin(masses)), int(np.argmax(masses))
    if (rest**2).sum() < (1.0 - LOAD_EXPLAINS) * (residual**2).sum() and least != most:
        raise IdentificationError(
            f'the load changed: in {runs[most].name} {model.body_names[tip]} carries about '
            f'{masses[most] - masses[least]:.2f} kg more than in {runs[least].name}; identify '
            'runs with the same load'
        )


def effort_delay(equations: Equations, fitted: Fitted, runs: Sequence[Run]) -> Array:
    """
    Return the time by which each joint's effort is later than the motion, shape (n,), s.

    Efforts that are late by D are about tau - D dtau/dt. So the rate of the effort is one more
    column of the equations, and its unknown is -D; NaN for joints without used efforts.
    """
    n, size = equations.q.shape[1], fitted.problem.prior.size
    rate = np.concatenate([np.gradient(run.effort, run.time, axis=0) for run in runs])
    own = terms(equations.qd, equations.qdd, fitted.load, fitted.smoothing)
    columns = np.concatenate([own, rate[:, :, np.newaxis]], axis=2)
    weights = equations.used / fitted.sigma**2
    R = triangular(np.concatenate(list(equations.reduced(columns, equations.effort, weights))))
    unknowns = np.linalg.lstsq(R[:, :-1], R[:, -1], rcond=1e-9)[0]
    return np.asarray(np.where(equations.used.any(axis=0), -unknowns[size + TERMS * n :], np.nan))


def delay_notes(delay: Array) -> list[str]:
    """Return a note if the efforts of most joints are late, or early."""
    common = float(np.nanmedian(delay))
    if abs(common) < NOTICEABLE_DELAY:
        return []
    late = 'later' if common > 0.0 else 'earlier'
    return [
        f'the efforts are about {1000.0 * abs(common):.0f} ms {late} than the motion: correct '
        f'them by effort_delay, {common:.3f} s, if the errors get smaller'
    ]



MASS_FACTOR = 1.6
"""Greatest factor between the total masses of arm and URDF; errors of CAD masses are smaller."""

MAX_MASS_FACTOR = 1e6  # between a stated mass and that of the URDF
KNOWN_MASS = 0.01  # relative error of a total mass that was weighed

CORNERS: Array = np.array([*product((-1.0, 1.0), repeat=3)])


def mass_bounds(model: RobotModel, total_mass: float | None) -> tuple[Array, Array]:
    """
    Return A and b with A phi <= b for plausible standard parameters phi of the bodies.

    A violation of 1 is one of the whole mass, or of a body's mass times the size of its box.

    :param total_mass: mass of the whole robot, kg; None for that of the URDF within a factor
    :raises InputError: the mass of the moving links is not positive, or far from the URDF's
    """
    prior = model.inertial_parameters
    masses = prior[::10]
    least, greatest = masses.sum() / MASS_FACTOR, masses.sum() * MASS_FACTOR
    if total_mass is not None:
        moving = total_mass - fixed_mass(model)
        if not 0.0 < moving < MAX_MASS_FACTOR * masses.sum():
            raise InputError(
                'total_mass', f'{total_mass:g} kg leave the moving links {moving:.4g} kg, which '
                f'have {masses.sum():.4g} kg in the URDF; correct one of the two'
            )
        least, greatest = (1.0 - KNOWN_MASS) * moving, (1.0 + KNOWN_MASS) * moving
    total = np.zeros(prior.size)
    total[::10] = 1.0 / masses.sum()
    rows, limits = [total, -total], [greatest / masses.sum(), -least / masses.sum()]
    for body, box in _boxes(model).items():
        # A centre of mass that the URDF has outside may stay there.
        mass, *h = prior[10 * body : 10 * body + 4]
        if mass <= 0.0:
            continue
        com = np.array(h) / mass
        lower, upper = np.minimum(box[0], com), np.maximum(box[1], com)
        size = mass * np.linalg.norm(upper - lower)
        for sign, bound in ((-1.0, lower), (1.0, upper)):
            for k in range(3):
                row = np.zeros(prior.size)
                row[10 * body] = -sign * bound[k] / size
                row[10 * body + 1 + k] = sign / size
                rows.append(row)
                limits.append(0.0)
    return np.array(rows), np.array(limits)


def fixed_mass(model: RobotModel) -> float:
    """Return the mass of the links that do not move, kg."""
    description, frames = model.description, model.tree.frames
    moving = {frames[name].body for name in model.body_names}
    links = {} if description is None else description.links
    return sum(
        link.inertial.mass
        for name, link in links.items()
        if link.inertial is not None and frames[name].body not in moving
    )


def mass_notes(model: RobotModel, phi: Array, total_mass: float | None) -> list[str]:
    """Return a note if the identified total mass is neither the URDF's nor the given one."""
    before, after = float(model.inertial_parameters[::10].sum()), float(phi[::10].sum())
    if total_mass is not None:
        before, factor, what = total_mass - fixed_mass(model), 1.0 + 3.0 * KNOWN_MASS, 'as given'
    else:
        factor, what = 0.95 * MASS_FACTOR, 'in the URDF'
    if 1.0 / factor <= after / before <= factor:
        return []
    return [
        f'the moving links have {after:.3g} kg in all, {before:.3g} kg {what}: weigh the arm, or '
        'read its data sheet (total_mass), and check the unit of the efforts'
    ]


def _boxes(model: RobotModel) -> dict[int, Array]:
    """Return lower and upper corner of the geometry in each body's frame, by its number."""
    description, frames = model.description, model.tree.frames
    if description is None:
        return {}
    points, boxes = link_points(description), {}
    for number, name in enumerate(model.body_names):
        links = [link for link in description.links if frames[link].body == frames[name].body]
        moved = []
        for link in links:
            placement = frames[name].placement.inverse() @ frames[link].placement
            if link in points:
                moved.append(points[link] @ placement.rotation.T + placement.translation)
            elif (inertial := description.links[link].inertial) is not None and inertial.mass:
                break  # this part of the body may be anywhere
        else:
            if moved:
                corners = np.concatenate(moved)
                boxes[number] = np.array([corners.min(axis=0), corners.max(axis=0)])
    return boxes


def link_points(description: RobotDescription) -> dict[str, Array]:
    """Return points (any, 3), m, whose box encloses a link's geometry, if it can be read."""
    found: dict[str, list[Array]] = {}
    unread: dict[str, str] = {}
    for shape in collision_shapes(description, unread):
        try:
            found.setdefault(shape.link, []).append(_points(shape))
        except UrdfError as error:
            unread[shape.link] = str(error)
    return {link: np.concatenate(found[link]) for link in found.keys() - unread.keys()}


def _points(shape: Shape) -> Array:
    """Return the corners of a primitive's box, or of a mesh, in the link's frame."""
    size = np.array(shape.size)
    if shape.kind == 'mesh':
        path = mesh_path(shape.file, None)
        if path is None:
            raise UrdfError('mesh', f'{shape.file} is not found')
        points = mesh_triangles(path).reshape(-1, 3) * size
    elif shape.kind == 'box':
        points = CORNERS * size / 2.0
    else:
        radius, length = size[0], size[1] if len(size) > 1 else 0.0
        half = length / 2.0 + (0.0 if shape.kind == 'cylinder' else radius)
        points = CORNERS * [radius, radius, half]
    placement = Placement.from_xyz_rpy(shape.origin.xyz, shape.origin.rpy)
    return np.asarray(points @ placement.rotation.T + placement.translation)



LOADED_SHARE = 0.1  # least effort of a loaded joint, as a share of the greatest effort of a joint
MAX_FACTOR = 5.0  # greatest ratio of identified and URDF effort; beyond, it is another unit
FAULT_SAMPLES = 400  # samples that are enough for the search of a fault

CORRECT = 'correct it by effort_scale'
LEAVE_OUT = 'leave its effort out (identify: --without-effort)'
REMEDIES = {
    Cause.INVERTED_EFFORT: f'{CORRECT}, -1 for these',
    Cause.INVERTED_AXIS: 'invert the axis in the URDF',
    Cause.GRAVITY_DIRECTION: 'correct it by gravity',
}
"""What to change, by cause; another factor of an effort is corrected by effort_scale."""

SUSPICIOUS = 0.25  # unexplained share of a loaded joint's effort that needs a cause
SUSPICIOUS_UNLOADED = 0.6  # the same of a joint with little load
UNUSUAL_FACTOR = 1.6  # ratio of identified and URDF effort, either way; CAD errors cause less
INEXPLICABLE = 0.5  # unexplained share of a loaded joint's effort that wrong masses cannot cause


def check_fit(
    equations: Equations, prior: RobotModel, fitted: Fitted, accept_faults: bool
) -> tuple[str, ...]:
    """
    Check that a fit explains the efforts with plausible bodies; return notes.

    The error has the cause and a remedy; ``accept_faults`` returns errors as notes.
    """
    names = prior.joint_names
    used = equations.used.astype(np.float64)
    effort = weighted_rms(equations.effort, used)
    unexplained = weighted_rms(fitted.residual, used) / np.maximum(effort, np.finfo(float).tiny)
    loaded = effort >= LOADED_SHARE * effort.max()
    # Of a joint that carries next to nothing, the URDF says nothing that an effort contradicts.
    carries = weighted_rms(equations.rigid(prior), used) >= LOADED_SHARE * effort
    suspicious = unexplained > np.where(loaded, SUSPICIOUS, SUSPICIOUS_UNLOADED)
    factor = _effort_factors(equations, prior, fitted)
    suspicious |= factor < 0.0
    another_unit = (factor < 1.0 / MAX_FACTOR) | (factor > MAX_FACTOR)
    faults, notes = _faults(equations, suspicious | another_unit)
    faults += [
        f'the effort of {names[joint]} without friction is {factor[joint]:.3g} times the '
        "URDF's: another unit, a current or a gear ratio (correct it by effort_scale), "
        'gravity that the hardware compensates (leave the effort out: without_effort), or the '
        'URDF of another robot'
        for joint in np.flatnonzero(another_unit)
    ]
    faults += [
        f'no masses and friction explain {100.0 * unexplained[joint]:.0f} % of the effort of '
        f'{names[joint]}: this may be the URDF of another robot, or the joints are matched '
        f'wrongly (joints); or {LEAVE_OUT}'
        for joint in np.flatnonzero(loaded & carries & (unexplained > INEXPLICABLE))
    ]
    if faults and not accept_faults:
        raise IdentificationError(f'{faults[0]}; or accept it (accept_faults; identify: --force)')
    unusual = (factor < 1.0 / UNUSUAL_FACTOR) | (factor > UNUSUAL_FACTOR)
    notes += [
        f'{names[joint]}: the effort without friction is {factor[joint]:.1f} times that of the '
        'URDF: its masses are wrong; if not: another unit, a current, or the URDF of another robot'
        for joint in np.flatnonzero(unusual)
    ]
    notes += [
        f'{names[joint]}: {100.0 * unexplained[joint]:.0f} % of the effort is not explained'
        for joint in np.flatnonzero(suspicious)
    ]
    return (*faults, *notes)


def _faults(equations: Equations, suspicious: NDArray[np.bool_]) -> tuple[list[str], list[str]]:
    """
    Return the faults of recording or URDF that no masses explain, and notes.

    A fault of a joint with little load is an error only in a suspicious fit: there the centre of
    mass in the URDF may lie on the wrong side of the axis.
    """
    few = equations.thinned(FAULT_SAMPLES)
    names = few.model.joint_names
    number, kind = np.arange(len(few)), Kind.MOTION if few.qd.any() else Kind.STILL
    time = number.astype(np.float64)
    samples = Samples(kind, names, time, few.q, few.qd, few.qdd, few.effort, number)
    measured = np.isfinite(few.effort).all(axis=0)
    with_effort, moved = (
        {name: name for name, chosen in zip(names, which, strict=True) if chosen}
        for which in (measured, ~measured)
    )
    assessment = Assessment(Prediction(few.model, with_effort, samples, moved=moved))
    certain = suspicious[measured]
    certain[assessment.loaded] = True
    faults, notes = [], []
    found = find_faults(assessment)
    # Wrong masses may look like another direction of gravity.
    doubtful = another_robot(assessment, found) is not None or bool(assessment.rivals)
    for finding in filter(_is_impossible, found):
        if finding.cause is Cause.GRAVITY_DIRECTION and doubtful:
            notes.append(f'{finding.text}, or the masses of the URDF are wrong')
        elif finding.must_be_fixed and certain[list(finding.joints)].any():
            ways = [LEAVE_OUT] * (len(finding.joints) == 1)
            if finding.cause is not Cause.UNEXPLAINED or not ways:
                ways.insert(0, REMEDIES.get(finding.cause) or finding.remedy or CORRECT)
            faults.append(f'{finding.text}; {", or ".join(ways)}')
        elif finding.cause in REMEDIES or not finding.must_be_fixed:
            notes.append(finding.text)
    return faults, notes


def _is_impossible(finding: Finding) -> bool:
    """Return whether no masses explain a fault."""
    if finding.cause in REMEDIES:
        return True
    if finding.factor is None:
        return finding.cause is Cause.COMPENSATED
    return finding.factor.upper < 1.0 / MAX_FACTOR or finding.factor.lower > MAX_FACTOR


def _effort_factors(equations: Equations, prior: RobotModel, fitted: Fitted) -> Array:
    """Return each joint's least-squares ratio of identified to URDF effort; 1 with little load."""
    expected = np.where(equations.used, equations.rigid(prior), 0.0)
    squares = (expected**2).sum(axis=0)
    loaded = (squares > 0.0) & (squares >= LOADED_SHARE**2 * squares.max())
    factors: Array = (expected * fitted.load).sum(axis=0) / np.where(loaded, squares, 1.0)
    return np.where(loaded, factors, 1.0)
