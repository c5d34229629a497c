# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Hypotheses, combinations of elementary faults of a model, and robust least squares for one of them.

The model of the effort of joint j is::

    tau_j = s_j (model_j + load_j + gravity_j) + viscous_j qd_j + coulomb_j sign(qd_j) + offset_j

The hypothesis decides whether the factor s_j, the load and the change of gravity are unknown. The
offset always is. Poses at rest have no friction terms, as the direction of friction is unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..arrays import Array
from ..recordings import STILL_SPEED, Kind, RecordingError, Samples
from ..recordings.robust import huber_weights
from ..robot import RobotModel

LOAD_PARAMETERS = 4  # mass, first moments; a load's inertia has little effect

KnownEfforts: TypeAlias = Callable[[Array, Array, Array], Array]
"""Efforts of friction and rotors that are known, of N motions q, qd, qdd of all model joints."""

Label: TypeAlias = tuple[str, int]  # kind; number of the joint, or of a shared component
HUBER = 1.345  # threshold of residuals, in scatters: 95 % efficiency for normal errors
CLIP = 3.0  # residuals for the scatter, in robust standard deviations

ACCURACY = 0.01
"""
Least scatter of a joint, as a share of its measured effort.

Masses and centres of mass limit the accuracy: the best identified models have errors of one or
two per cent.
"""

RESOLUTION = 0.001  # of sensors: least scatter, as a share of the most loaded joint's effort
MAX_RATIO = 10.0  # cap of the greatest effort for RESOLUTION, as a multiple of the model's
NEGLIGIBLE = 1e-6  # share of the greatest effort below which an effort is a rounding error
NOTHING = 1e-9  # effort treated as zero, N m or N
ROUNDS = 20  # of reweighting, at most; it converges to a thousandth earlier
SINGULAR = 1e-9  # smaller eigenvalues of the scaled normal equations: dependent columns
FRICTION = slice(1, 3)  # columns of a joint: viscous and Coulomb friction, after the offset
SINGLE = ('all_scaled', 'gravity_scaled', 'gravity_turned')  # faults of the whole robot
RESOLVED = 0.99  # least resolution of a reported parameter; 1: fully determined by the data


@dataclass(frozen=True)
class Tip:
    """The last link that a measured joint moves, which may carry a tool."""

    link: str
    # Mass of each link fixed behind it, with everything that link carries, kg; in order from the
    # tip of the robot inwards.
    behind: Mapping[str, float]


class Prediction:
    """
    Efforts of a model at the samples, for n measured joints.

    :param model: the robot
    :param joints: recorded name of each measured joint, by the model's name
    :param samples: measured samples, with the recorded names
    :param flipped: numbers of measured joints whose axis is inverted
    :param moved: recorded names of joints with positions but without efforts, by the model's name
    :param known: efforts beside the rigid bodies, which are taken off the measured ones
    :raises RecordingError: the model has joints with several coordinates
    """

    def __init__(
        self, model: RobotModel, joints: Mapping[str, str], samples: Samples,
        flipped: Sequence[int] = (), moved: Mapping[str, str] | None = None,
        known: KnownEfforts | None = None,
    ) -> None:
        for name in model.joints_of_several_axes:
            raise RecordingError(f'joint {name!r} of the model has more than one axis')
        self.model = model
        self.joints = joints
        self.samples = samples
        self._moved = moved or {}
        self._known = known
        self._rows = [model.velocity_indices(name).start for name in joints]
        columns = [samples.names.index(name) for name in joints.values()]
        self._sign = np.ones(len(joints))
        self._sign[list(flipped)] = -1.0
        self.effort = samples.effort[:, columns]
        self.velocity = samples.velocity[:, columns]
        motion = np.zeros((3, len(samples.time), model.nv))
        self._q, self._qd, self._qdd = motion
        self._q[:] = np.clip(0.0, model.position_lower, model.position_upper)
        moved_rows = [model.velocity_indices(name).start for name in self._moved]
        moved_columns = [samples.names.index(name) for name in self._moved.values()]
        recorded = (samples.position, samples.velocity, samples.acceleration)
        for values, found in zip(motion, recorded, strict=True):
            values[:, self._rows] = self._sign * found[:, columns]
            values[:, moved_rows] = found[:, moved_columns]
        if known is not None:
            self.effort = self.effort - self._measured(known(self._q, self._qd, self._qdd))

    def flipped(self, joints: Sequence[int]) -> Prediction:
        """Return the prediction with the axes of some joints inverted."""
        return Prediction(self.model, self.joints, self.samples, joints, self._moved, self._known)

    def _measured(self, tau: Array) -> Array:
        """Return the efforts of the measured joints, shape (N, n)."""
        return self._sign * tau[:, self._rows]

    @cached_property
    def gravity(self) -> Array:
        """Gravity torques, shape (N, n), N m or N."""
        return self._measured(self.model.gravity_torques_batch(self._q))

    @cached_property
    def rigid(self) -> Array:
        """Efforts of gravity and motion without friction, shape (N, n), N m or N."""
        if self.samples.kind is Kind.STILL:
            return self.gravity
        return self._measured(self.model.inverse_dynamics_batch(self._q, self._qd, self._qdd))

    @cached_property
    def gravity_axes(self) -> Array:
        """Gravity torques of 1 m/s^2 along each axis of the root link, shape (N, n, 3)."""
        along = [self.model.with_gravity(axis).gravity_torques_batch for axis in np.eye(3)]
        return np.stack([self._measured(torques(self._q)) for torques in along], axis=-1)

    @cached_property
    def tips(self) -> tuple[Tip, ...]:
        """The links that may carry a tool: the last link that a measured joint moves."""
        description = self.model.description
        if description is None:
            return ()
        carried: dict[str, list[str]] = {name: [] for name in description.links}
        for joint in description.joints.values():
            carried[joint.parent].append(joint.child)

        def all_behind(link: str) -> list[str]:
            return [deeper for child in carried[link] for deeper in (*all_behind(child), child)]

        def mass(link: str) -> float:
            inertial = description.links[link].inertial
            return 0.0 if inertial is None else inertial.mass

        moved = {description.joints[name].child for name in self.joints}
        return tuple(
            Tip(link, {
                other: mass(other) + sum(map(mass, all_behind(other)))
                for other in all_behind(link)
            })
            for link in description.links
            if link in moved and not moved & set(all_behind(link))
        )

    def load(self, link: str) -> Array:
        """Return the efforts of unit mass and first moments on a link, shape (N, n, 4)."""
        first = 10 * self.model.body_names.index(link)
        columns: Array = self._regressor[:, :, first : first + LOAD_PARAMETERS]
        return columns * self._sign[:, np.newaxis]

    @cached_property
    def _regressor(self) -> Array:
        return self.model.regressor_batch(self._q, self._qd, self._qdd)[:, self._rows]


@dataclass(frozen=True)
class Hypothesis:
    """The faults of a model; none by default."""

    flipped: frozenset[int] = frozenset()  # joints with an inverted axis, in position and effort
    scaled: frozenset[int] = frozenset()  # joints whose effort has an unknown factor
    all_scaled: bool = False  # the efforts of all joints have a common unknown factor
    gravity_scaled: bool = False  # gravity has an unknown factor, the efforts of motion have none
    gravity_turned: bool = False  # gravity is an unknown vector
    loaded: frozenset[str] = frozenset()  # links with an unknown load, negative for an extra tool

    def describe(self, names: Sequence[str]) -> str:
        """Return the faults in words; names of the joints."""
        parts = [f'inverted axis of {names[joint]}' for joint in sorted(self.flipped)]
        parts += [f'factor of {names[joint]}' for joint in sorted(self.scaled)]
        parts += ['factor of all efforts'] * self.all_scaled
        parts += ['factor of gravity'] * self.gravity_scaled
        parts += ['direction of gravity'] * self.gravity_turned
        parts += [f'load on {link}' for link in sorted(self.loaded)]
        return ' and '.join(parts) or 'no fault'

    def with_one_fault_more(self, joints: int, prediction: Prediction) -> Iterator[Hypothesis]:
        """Yield the hypotheses with one more fault."""
        at_rest = prediction.samples.kind is Kind.STILL
        for kind in SINGLE:
            # At rest a factor of gravity equals a factor of all efforts.
            if not getattr(self, kind) and not (at_rest and kind == 'gravity_scaled'):
                yield self._with(kind, True)
        for tip in prediction.tips:
            if tip.link not in self.loaded:
                yield replace(self, loaded=self.loaded | {tip.link})
        for joint in range(joints):
            for kind in ('scaled', 'flipped'):
                if joint not in (present := getattr(self, kind)):
                    yield self._with(kind, present | {joint})

    def with_one_fault_less(self) -> Iterator[Hypothesis]:
        """Yield the hypotheses with one fault less."""
        for kind in SINGLE:
            if getattr(self, kind):
                yield self._with(kind, False)
        for kind in ('loaded', 'scaled', 'flipped'):
            for each in getattr(self, kind):
                yield self._with(kind, getattr(self, kind) - {each})

    def _with(self, kind: str, value: Any) -> Hypothesis:
        return replace(self, **{kind: value})


@dataclass(frozen=True)
class Fit:
    """A hypothesis with fitted parameters."""

    hypothesis: Hypothesis
    values: dict[Label, float]  # factors as their difference from 1
    errors: dict[Label, float]  # standard errors, infinite for undetermined parameters
    rank: int  # number of parameters that the data determine
    scatter: Array  # robust standard deviation of the residual, shape (n,), N m or N
    residual: Array = field(repr=False)  # shape (N, n), N m or N
    friction: Array = field(repr=False)  # fitted friction, shape (N, n), N m or N


class HypothesisEquations:
    """
    Least-squares equations of one hypothesis, solved for all samples or a part of them.

    ``change``, shape (N, n), N m or N, is that of the efforts by a fault whose share is fitted.
    """

    def __init__(
        self, prediction: Prediction, hypothesis: Hypothesis, change: Array | None = None
    ) -> None:
        self._hypothesis = hypothesis
        measured, rigid = prediction.effort, prediction.rigid
        n = rigid.shape[1]
        self._at_rest = prediction.samples.kind is Kind.STILL
        shared: list[Array] = []
        shared_labels: list[Label] = []
        if hypothesis.all_scaled:
            shared.append(rigid[..., np.newaxis])
            shared_labels.append(('all', 0))
        if hypothesis.gravity_scaled:
            shared.append(prediction.gravity[..., np.newaxis])
            shared_labels.append(('gravity', 0))
        if hypothesis.gravity_turned:
            shared.append(prediction.gravity_axes)
            shared_labels += [('axis', k) for k in range(3)]
        for link in sorted(hypothesis.loaded):
            shared.append(prediction.load(link))
            shared_labels += [(f'load {link}', k) for k in range(4)]
        if change is not None:
            shared.append(change[..., np.newaxis])
            shared_labels.append(('change', 0))
        moving = np.abs(prediction.velocity) > STILL_SPEED
        direction = np.where(moving, np.sign(prediction.velocity), 0.0)
        size = np.sqrt(np.mean(measured**2, axis=0))
        modelled = float(np.sqrt(np.mean(rigid**2, axis=0)).max())
        # An effort in another unit does not hide the other joints.
        largest = float(np.minimum(size, MAX_RATIO * modelled if modelled else np.inf).max())
        self._floor = (ACCURACY * size + RESOLUTION * max(largest, NOTHING))[:, np.newaxis]
        columns = {'offset': np.ones_like(rigid)}
        if not self._at_rest:
            columns |= {'viscous': prediction.velocity, 'coulomb': direction}
        if hypothesis.scaled:
            reaction = np.abs(rigid).max(axis=0)
            # A factor of rounding errors, or of no fault, is a column of zeros: undetermined.
            factors = np.isin(range(n), [*hypothesis.scaled])
            columns['scale'] = rigid * (factors & (reaction > NEGLIGIBLE * reaction.max()))
        own = len(columns)
        self.labels = [(kind, joint) for joint in range(n) for kind in columns] + shared_labels
        # Columns by joint, shape (n, columns, N): its own, the shared ones and the target; and the
        # number of each column's label.
        self._columns = np.concatenate(
            [np.stack([*columns.values()], axis=-1), *shared, (measured - rigid)[..., np.newaxis]],
            axis=-1,
        ).transpose(1, 2, 0).copy()
        self._index = np.array([
            np.r_[own * joint : own * (joint + 1), own * n : len(self.labels) + 1]
            for joint in range(n)
        ])
        # The factors of a joint, its last own column and the first shared one, also apply to loads
        # and changes of gravity.
        self._factors = slice(own - bool(hypothesis.scaled), own + hypothesis.all_scaled)
        self._scaled = slice(own + hypothesis.all_scaled, -1)

    def solve(self, which: NDArray[np.bool_], independent: int) -> Fit:
        """Solve for the samples of a mask, reweighted for outliers and each joint's scatter."""
        columns = self._columns.take(np.flatnonzero(which), axis=-1)  # contiguous, for speed
        factor = np.ones(self._index.shape)
        residual = columns[:, -1] - np.median(columns[:, -1], axis=1, keepdims=True)
        scatter = np.maximum(_spread(residual), self._floor)
        for _ in range(ROUNDS):
            weight = huber_weights(residual, scatter, HUBER) / scatter**2
            normal, right = self._normal_equations(columns, factor, weight)
            x, covariance, resolution, rank = _solve(normal, right)
            values = np.append(x, -1.0)[self._index]  # of the columns; -1 for the target
            before, residual = residual, -_combined(columns, factor * values)
            scatter = np.maximum(_spread(residual), self._floor)
            factor[:, self._scaled] = 1.0 + values[:, self._factors].sum(axis=1, keepdims=True)
            if (np.abs(residual - before) < 1e-3 * scatter).all():
                break
        inflation = max(int(which.sum()) / independent, 1.0)
        errors = np.sqrt(inflation * np.maximum(covariance, 0.0))
        errors[resolution < RESOLVED] = np.inf
        friction = np.zeros_like(self._columns[:, 0])
        if not self._at_rest:
            friction = _combined(self._columns[:, FRICTION], values[:, FRICTION])
        return Fit(
            self._hypothesis,
            dict(zip(self.labels, x.tolist(), strict=True)),
            dict(zip(self.labels, errors.tolist(), strict=True)),
            rank,
            scatter[:, 0],
            -_combined(self._columns, factor * values).T,
            friction.T,
        )

    def _normal_equations(
        self, columns: Array, factor: Array, weight: Array
    ) -> tuple[Array, Array]:
        """Return X^T W X and X^T W y; y is the last column of each joint."""
        products = (columns * weight[:, np.newaxis]) @ columns.swapaxes(1, 2)
        products *= factor[:, :, np.newaxis] * factor[:, np.newaxis]
        normal = np.zeros(2 * (len(self.labels) + 1,))
        for index, product in zip(self._index, products, strict=True):
            normal[np.ix_(index, index)] += product
        return normal[:-1, :-1], normal[:-1, -1]


def _combined(columns: Array, values: Array) -> Array:
    """Return the sum of each joint's columns times their values, shape (n, N)."""
    return np.asarray((values[:, np.newaxis] @ columns)[:, 0])


def _spread(residual: Array) -> Array:
    """Return the RMS of each row with outliers clipped, shape (n, 1)."""
    size = np.abs(residual)
    limit = CLIP * 1.4826 * np.median(size, axis=1, keepdims=True)
    limit[limit == 0.0] = np.inf
    clipped = np.minimum(size, limit)
    square = np.einsum('jk,jk->j', clipped, clipped)[:, np.newaxis] / size.shape[1]
    return np.asarray(np.sqrt(square))


def _solve(normal: Array, right: Array) -> tuple[Array, Array, Array, int]:
    """Return the least-norm solution, its variances, the parameters' resolutions, the rank."""
    scale = np.sqrt(normal.diagonal())
    scale[scale == 0.0] = 1.0
    inverse, resolution, rank = _pseudo_inverse(normal / (scale[:, np.newaxis] * scale))
    return inverse @ (right / scale) / scale, inverse.diagonal() / scale**2, resolution, rank


def _pseudo_inverse(matrix: Array) -> tuple[Array, Array, int]:
    """Return the pseudo-inverse of a symmetric matrix, the resolution and the rank."""
    with suppress(np.linalg.LinAlgError):
        inverse = np.asarray(np.linalg.inv(matrix), dtype=np.float64)
        # A small norm proves that no eigenvalue is below SINGULAR, and costs less than they do.
        if np.linalg.norm(inverse) < 1.0 / SINGULAR:
            return inverse, np.ones(len(matrix)), len(matrix)
    values, vectors = np.linalg.eigh(matrix)
    good = values > SINGULAR
    vectors = vectors[:, good]
    inverse = vectors / values[good] @ vectors.T
    return inverse, np.sum(vectors**2, axis=1), vectors.shape[1]
