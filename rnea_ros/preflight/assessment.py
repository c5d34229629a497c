# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Figures for the rules: of each joint alone, and of the best hypothesis."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..arrays import Array
from ..recordings import Kind, Samples
from ..recordings.robust import rms
from .fit import NOTHING, Fit, Hypothesis, Prediction, Tip
from .selection import ABSENT, Estimate, Selection, Solution

LOAD_TOLERANCE = 0.05  # accepted change of an effort, as a share of it without friction
SENSOR_TOLERANCE = 0.02  # accepted error, as a share of the most loaded joint's effort
LOADED_SHARE = 0.1  # least load of a loaded joint, as a share of the most loaded joint's

PROMINENCE = 3.0
"""
The model is visible in an effort if its part exceeds the scatter by this factor.

This separates efforts in another unit (visible) from efforts without gravity, in which only model
errors remain.
"""

MODEL_TOLERANCE = 0.2
"""
Greatest difference of a factor from 1 that counts as model error.

Vendors' models differ from their own arms by up to 18 %, wrong ratios, units and currents by more.
With gravity compensation up to a fifth of the weight remains as friction.
"""

TORQUE_SENSOR_FRICTION = 0.1
"""
Greatest friction that a joint torque sensor measures, as a share of a loaded joint's effort.

On the link side of the gear only bearings and seals have friction: one or two per cent of the
effort of a Panda's loaded joints. Motor currents contain the gear's friction, a fifth of the load
or more.
"""

PRESENT_FROM_ABSENT = 1.0  # uncertainty of a judged scale: 1 (present) and 0 (absent) differ


@dataclass(frozen=True)
class JointFigures:
    """Figures of a joint, fitted alone: measured = scale * model + friction + offset, N m or N."""

    name: str  # in the model
    scale: Estimate  # factor of the model's effort, 1 for a correct model
    offset: Estimate
    viscous: Estimate | None  # N m s/rad or N s/m; None at rest
    coulomb: Estimate | None  # None at rest
    load: float  # RMS of the model's effort
    variation: float  # standard deviation of the model's effort; determines the scale
    friction: float  # RMS of the fitted friction; 0 at rest
    scatter: float  # robust standard deviation of the residual
    error: float  # RMS of measured minus model
    measured: float  # RMS of the measured effort

    @property
    def tolerance(self) -> float:
        """Greatest accepted difference of the scale from 1, for errors of model and friction."""
        return max(MODEL_TOLERANCE, self.friction / self.variation if self.variation else np.inf)

    @property
    def is_judged(self) -> bool:
        """Whether the model's effort varies enough to judge the joint."""
        return self.scale.half_width + self.tolerance < PRESENT_FROM_ABSENT


class Assessment:
    """
    Figures for the rules, of modelled and measured efforts.

    Changes of efforts have the shape (N, n), vectors of the joints (n,), N m or N. The best
    hypothesis is the one with the strongest support; ``separate`` fits each joint alone.
    """

    def __init__(self, prediction: Prediction) -> None:
        self.prediction = prediction
        self.samples: Samples = prediction.samples
        self.at_rest = self.samples.kind is Kind.STILL
        self.selection = Selection(prediction)
        self.best: Solution = self.selection.best()
        every = frozenset(range(len(prediction.joints)))
        self.separate = self.selection.solution(Hypothesis(scaled=every))
        self.joints = tuple(map(self._figures, range(len(every)), prediction.joints))
        most = max(joint.load for joint in self.joints)
        #: numbers of the joints that carry the arm's weight
        self.loaded = [
            number for number, joint in enumerate(self.joints)
            if joint.load >= LOADED_SHARE * most and joint.load > 0.0
        ]

    @property
    def hypothesis(self) -> Hypothesis:
        """The best hypothesis."""
        return self.best.fit.hypothesis

    @cached_property
    def rivals(self) -> list[Hypothesis]:
        """Other hypotheses with similar support by the measurement."""
        return self.selection.rivals(self.best)

    def unexplained(self, joint: int) -> float:
        """
        Return the share of a joint's effort without friction that the best hypothesis leaves.

        If the effort lacks gravity, it is the share of the greatest rest of gravity instead.
        """
        fit = self.best.fit
        rest = self.prediction.effort[:, joint] - fit.friction[:, joint]
        size = max(float(rest.std()), ABSENT * self.joints[joint].load)
        return float(fit.scatter[joint]) / size if size else 0.0

    def affected(self, change: Array) -> tuple[int, ...]:
        """Return the numbers of the joints whose effort changes by a relevant amount."""
        load = self.reported_load
        least = rms(self.best.fit.friction) + LOAD_TOLERANCE * load
        matters = rms(change) > least + SENSOR_TOLERANCE * load.max()
        return tuple(np.flatnonzero(matters).tolist())

    def stands_out(self, change: Array) -> bool:
        """Return whether a change of efforts exceeds the scatter of some joint."""
        return bool((rms(change) > PROMINENCE * self.best.fit.scatter).any())

    @cached_property
    def factors(self) -> Array:
        """Factors of the joints' efforts in the best hypothesis."""
        values = self.best.fit.values
        common = values.get(('all', 0), 0.0)
        return np.array([
            1.0 + common + values.get(('scale', joint), 0.0) for joint in range(len(self.joints))
        ])

    @cached_property
    def reported_load(self) -> Array:
        """Loads as efforts report them: times the effort's factor if above 1 (another unit)."""
        load = np.array([joint.load for joint in self.joints])
        return load * np.maximum(1.0, np.abs(self.factors))

    def is_visible(self, joint: int) -> bool:
        """Return whether the model, times its factor, exceeds the scatter of a joint's effort."""
        part = abs(float(self.factors[joint])) * self.joints[joint].variation
        return part > PROMINENCE * float(self.best.fit.scatter[joint])

    def factor(self, joint: int) -> Estimate:
        """Return the factor of a joint's effort in the best hypothesis."""
        shared = self.hypothesis.all_scaled

        def value(fit: Fit) -> float:
            common = fit.values['all', 0] if shared else 0.0
            return 1.0 + common + fit.values['scale', joint]

        return self.best.estimate(value, self.best.fit.errors['scale', joint])

    def gravity_found(self) -> tuple[Array, Estimate, Estimate]:
        """
        Return gravity as the best hypothesis has it, for one that leaves it open.

        :return: the vector in the root link's frame, shape (3,), m/s^2; its size as a factor of
            the model's; its angle with the model's, rad
        """
        modelled = self.prediction.model.gravity
        expected = max(float(np.linalg.norm(modelled)), NOTHING)

        def gravity(fit: Fit) -> Array:
            return modelled + [fit.values['axis', k] for k in range(3)]

        def size(fit: Fit) -> float:
            return float(np.linalg.norm(gravity(fit))) / expected

        def angle(fit: Fit) -> float:
            found = gravity(fit)
            across = np.linalg.norm(np.cross(modelled, found))
            return float(np.arctan2(across, modelled @ found))

        best, found = self.best, gravity(self.best.fit)
        error = max(best.fit.errors['axis', k] for k in range(3))
        length = max(float(np.linalg.norm(found)), NOTHING)
        return found, best.estimate(size, error / expected), best.estimate(angle, error / length)

    def load_change(self, tip: Tip) -> Array:
        """Return the efforts of the load found on a tip."""
        values = [self.best.fit.values[f'load {tip.link}', k] for k in range(4)]
        return np.asarray(self.best.prediction.load(tip.link) @ np.array(values))

    def gravity_change(self) -> Array:
        """Return the efforts of the change of gravity found."""
        delta = np.array([self.best.fit.values['axis', k] for k in range(3)])
        return np.asarray(self.best.prediction.gravity_axes @ delta)

    def flip_change(self, joint: int) -> Array:
        """Return the change of the efforts by inverting a joint's axis."""
        others = self.hypothesis.flipped - {joint}
        return self.best.prediction.rigid - self.prediction.flipped(sorted(others)).rigid

    def axis_factor(self, joint: int) -> Estimate:
        """
        Return the sign of a joint's axis as a factor: 1 as in the model, -1 inverted.

        Values between are mixtures of both efforts, which no axis explains.
        """
        best = Solution(self.best.prediction, self.hypothesis, -self.flip_change(joint))
        back = best.parameter('change', 0)
        return Estimate(2.0 * back.value - 1.0, 2.0 * back.half_width)

    @cached_property
    def gear_friction(self) -> dict[int, float]:
        """Friction as a share of the load by joint, if it is too much for torque sensors."""

        def share(joint: int) -> Estimate:
            load = float(self.reported_load[joint])
            return self.best.estimate(lambda fit: float(rms(fit.friction)[joint]) / load)

        shares = {joint: share(joint) for joint in self.loaded if not self.at_rest}
        if any(share.lower <= TORQUE_SENSOR_FRICTION for share in shares.values()):
            return {}
        return {joint: share.value for joint, share in shares.items()}

    def _figures(self, joint: int, name: str) -> JointFigures:
        fit, estimate = self.separate.fit, self.separate.parameter
        model, measured = self.prediction.rigid, self.prediction.effort
        efforts = (model, fit.friction, measured - model, measured)
        load, friction, error, size = (float(rms(each)[joint]) for each in efforts)
        moving = not self.at_rest
        return JointFigures(
            name=name,
            scale=estimate('scale', joint, add=1.0),
            offset=estimate('offset', joint),
            viscous=estimate('viscous', joint) if moving else None,
            coulomb=estimate('coulomb', joint) if moving else None,
            load=load,
            variation=float(model[:, joint].std()),
            friction=friction,
            scatter=float(fit.scatter[joint]),
            error=error,
            measured=size,
        )
