# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The figures that are judged: those of each joint alone, and those of the best hypothesis."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .columns import Prediction, Tip
from .fit import NOTHING, Fit
from .hypothesis import Hypothesis
from .recording import Array
from .samples import Kind, Samples
from .selection import Estimate, Selection, Solution

MODEL_TOLERANCE = 0.2
"""
A factor this close to 1 is a model's own inexactness.

Vendors' models miss arms of their own make by up to 18 %; wrong ratios, units and currents are
off by more, and gravity compensation leaves a fifth of a weight to friction.
"""

LOAD_TOLERANCE = 0.05
"""What changes no effort by more than this share of it, friction aside, need not be fixed."""

SENSOR_TOLERANCE = 0.02
"""Torque sensors and their offsets are good to about this share of the most loaded joint."""

LOADED_SHARE = 0.1
"""A joint that carries at least so much of what the most loaded one does is a loaded joint."""

PRESENT_FROM_ABSENT = 1.0
"""A joint can be judged where its scale could tell a weight that is there (1) from none (0)."""


PROMINENCE = 3.0
"""
A model is seen in an effort where its part is so many times the scatter.

It tells an effort in another unit, in which the model is seen, from one without gravity, in which
its errors may leave a trace.
"""


@dataclass(frozen=True)
class JointFigures:
    """
    One joint by itself: measured = scale * model + friction + offset.

    :param name: the model's name
    :param scale: 1 where the model is right
    :param offset: N m or N
    :param viscous: N m s/rad or N s/m; None at rest
    :param coulomb: N m or N; None at rest
    :param load: RMS of the model's effort, N m or N
    :param drive: standard deviation of the model's effort: what tells a scale from an offset
    :param friction: RMS of the fitted friction; 0 at rest
    :param scatter: robust standard deviation of what is left
    :param missed: RMS of measured minus model, N m or N
    :param measured: RMS of the measured effort, N m or N
    """

    name: str
    scale: Estimate
    offset: Estimate
    viscous: Estimate | None
    coulomb: Estimate | None
    load: float
    drive: float
    friction: float
    scatter: float
    missed: float
    measured: float

    @property
    def tolerance(self) -> float:
        """
        How far from 1 a scale may be.

        Not closer than the model is meant to be; nor than friction lets it be seen: friction has
        not quite the form that is fitted, so that a share of it may pass for a scale.
        """
        return max(MODEL_TOLERANCE, self.friction / self.drive if self.drive else np.inf)

    @property
    def is_judged(self) -> bool:
        """Whether there is enough gravity on the joint to judge it."""
        return self.scale.half_width + self.tolerance < PRESENT_FROM_ABSENT


class Assessment:
    """
    What the rules judge.

    :param prediction: model and measurement
    """

    def __init__(self, prediction: Prediction) -> None:
        self.prediction = prediction
        self.selection = Selection(prediction)
        self.best: Solution = self.selection.best()
        size = len(prediction.joints)
        self.separate = self.selection.solution(Hypothesis(scaled=frozenset(range(size))))
        names = list(prediction.joints)
        self.joints = tuple(self._figures(joint, name) for joint, name in enumerate(names))

    @property
    def samples(self) -> Samples:
        """What was measured."""
        return self.prediction.samples

    @property
    def hypothesis(self) -> Hypothesis:
        """The hypothesis with the strongest support."""
        return self.best.fit.hypothesis

    @property
    def at_rest(self) -> bool:
        """Whether still poses were compared."""
        return self.samples.kind is Kind.STILL

    @cached_property
    def rivals(self) -> list[Hypothesis]:
        """Other hypotheses that the measurement supports about as well."""
        return self.selection.rivals(self.best)

    @property
    def loaded(self) -> list[int]:
        """The joints that carry the arm's weight."""
        most = max(joint.load for joint in self.joints)
        return [
            number
            for number, joint in enumerate(self.joints)
            if joint.load >= LOADED_SHARE * most and joint.load > 0.0
        ]

    @cached_property
    def noticeable(self) -> Array:
        """How much a joint's effort must change for it to matter, shape (n,), N m or N."""
        load = self.reported_load
        friction = np.sqrt(np.mean(self.best.fit.friction**2, axis=0))
        noticeable: Array = friction + LOAD_TOLERANCE * load + SENSOR_TOLERANCE * load.max()
        return noticeable

    def matters(self, change: Array) -> bool:
        """
        Return whether a change of efforts matters for some joint.

        :param change: shape (N, n), N m or N
        """
        return bool((np.sqrt(np.mean(change**2, axis=0)) > self.noticeable).any())

    def stands_out(self, change: Array) -> bool:
        """
        Return whether a change of efforts stands out of the scatter of some joint.

        :param change: shape (N, n), N m or N
        """
        size = np.sqrt(np.mean(change**2, axis=0))
        return bool((size > PROMINENCE * self.best.fit.scatter).any())

    @cached_property
    def factors(self) -> Array:
        """Factors of the joints' efforts by the best hypothesis, shape (n,)."""
        values = self.best.fit.values
        common = values.get(('all', 0), 0.0)
        return np.array([
            1.0 + common + values.get(('scale', joint), 0.0) for joint in range(len(self.joints))
        ])

    @cached_property
    def reported_load(self) -> Array:
        """
        What the joints carry, in the unit of their effort where that is a smaller one, shape (n,).

        N m or N times the factor of the effort, if it is above 1.
        """
        load = np.array([joint.load for joint in self.joints])
        reported: Array = load * np.maximum(1.0, np.abs(self.factors))
        return reported

    def is_seen(self, joint: int) -> bool:
        """Whether the model, times its factor, stands out of the scatter of a joint's effort."""
        part = abs(float(self.factors[joint])) * self.joints[joint].drive
        return part > PROMINENCE * float(self.best.fit.scatter[joint])

    def factor(self, joint: int) -> Estimate:
        """Return the factor of a joint's effort by the best hypothesis."""
        shared = self.hypothesis.all_scaled
        error = self.best.fit.errors['scale', joint]

        def value(fit: Fit) -> float:
            common = fit.values['all', 0] if shared else 0.0
            return 1.0 + common + fit.values['scale', joint]

        return self.best.estimate(value, error)

    def gravity_found(self) -> tuple[Array, Estimate, Estimate]:
        """
        Return gravity as the best hypothesis has it, for one that leaves it open.

        :return: the vector in the root link's frame, shape (3,), m/s^2; its size as a factor of
            the model's; its angle with the model's, rad
        """
        modelled = self.prediction.model.gravity
        expected = float(np.linalg.norm(modelled))

        def gravity(fit: Fit) -> Array:
            found: Array = modelled + [fit.values['axis', k] for k in range(3)]
            return found

        def angle(fit: Fit) -> float:
            found = gravity(fit)
            across = np.linalg.norm(np.cross(modelled, found))
            return float(np.arctan2(across, modelled @ found))

        found = gravity(self.best.fit)
        error = max(self.best.fit.errors['axis', k] for k in range(3))
        size = float(np.linalg.norm(found))
        return (
            found,
            self.best.estimate(
                lambda fit: float(np.linalg.norm(gravity(fit))) / expected, error / expected
            ),
            self.best.estimate(angle, error / max(size, NOTHING)),
        )

    def load_change(self, tip: Tip) -> Array:
        """Return what the load that was found on a tip adds to the efforts, shape (N, n)."""
        values = [self.best.fit.values[f'load {tip.link}', k] for k in range(4)]
        change: Array = self.best.prediction.load(tip.link) @ np.array(values)
        return change

    def gravity_change(self) -> Array:
        """Return what the change of gravity that was found adds to the efforts, shape (N, n)."""
        delta = np.array([self.best.fit.values['axis', k] for k in range(3)])
        change: Array = self.best.prediction.gravity_axes @ delta
        return change

    def flip_change(self, joint: int) -> Array:
        """Return what turning a joint's axis round changes, shape (N, n)."""
        flipped = self.best.prediction
        others = self.hypothesis.flipped - {joint}
        change = flipped.rigid - self.prediction.flipped(sorted(others)).rigid
        scaled: Array = change * self.factors
        return scaled

    def friction_share(self, joint: int) -> Estimate:
        """Return the friction of a joint as a share of the model's effort."""
        load = float(self.reported_load[joint])
        return self.best.estimate(lambda fit: _rms(fit.friction[:, joint]) / load)

    def _figures(self, joint: int, name: str) -> JointFigures:
        fit = self.separate.fit
        model, measured = self.prediction.rigid[:, joint], self.prediction.effort[:, joint]
        moving = not self.at_rest
        return JointFigures(
            name=name,
            scale=self.separate.parameter('scale', joint, add=1.0),
            offset=self.separate.parameter('offset', joint),
            viscous=self.separate.parameter('viscous', joint) if moving else None,
            coulomb=self.separate.parameter('coulomb', joint) if moving else None,
            load=_rms(model),
            drive=float(model.std()),
            friction=_rms(fit.friction[:, joint]),
            scatter=float(fit.scatter[joint]),
            missed=_rms(measured - model),
            measured=_rms(measured),
        )


def _rms(values: Array) -> float:
    return float(np.sqrt(np.mean(values**2)))
