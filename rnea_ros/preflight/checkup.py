# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""All steps from a recording and a model to the verdict."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..parameters import Value
from ..recordings import (
    Kind,
    Recording,
    RecordingError,
    clean,
    match_joints,
    require_scipy,
    take_samples,
)
from ..robot import RobotModel
from .assessment import LOADED_SHARE, Assessment
from .faults import (
    Cause,
    Finding,
    ModelVerdict,
    another_robot,
    find_faults,
    find_remainders,
)
from .fit import KnownEfforts, Prediction
from .gravity_factor import GravityFactor, gravity_factors, parameter_value
from .gravity_factor import text as factors_text
from .report import report
from .selection import Estimate

UNITS = {
    'revolute': (2.0 * np.pi, 'degrees, not radians', 'degrees=true or gear=...'),
    'prismatic': (1.0, 'millimetres, not metres', 'gear=...'),
}
"""Travel that no limited joint exceeds, rad or m; the unit far beyond it, and its setting."""

FAR = 2.0  # ratio to that travel; less may be another joint's, in another order

SPOILS_PARAMETERS = frozenset({
    Cause.NO_EFFORT, Cause.ANOTHER_ROBOT, Cause.INVERTED_AXIS, Cause.INVERTED_EFFORT,
    Cause.GRAVITY_DIRECTION, Cause.WRONG_SCALE, Cause.UNEXPLAINED,
})
"""Causes that make friction and gravity of their joints uncertain, or have another unit."""


@dataclass(frozen=True)
class Checkup:
    """The result of comparing a model with a recording."""

    assessment: Assessment
    findings: tuple[Finding, ...]  # causes that were found
    joints: tuple[str, ...]  # recorded, with and without efforts, in the model's order

    @property
    def verdict(self) -> ModelVerdict:
        """ACCEPTED if nothing must be fixed, and every loaded joint was judged."""
        if any(finding.must_be_fixed for finding in self.findings):
            return ModelVerdict.REJECTED
        judged = [self.assessment.joints[joint].is_judged for joint in self.assessment.loaded]
        return ModelVerdict.ACCEPTED if judged and all(judged) else ModelVerdict.UNDECIDED

    @cached_property
    def gravity_factors(self) -> tuple[GravityFactor, ...]:
        """The factor of each joint's gravity; none if a fault with another remedy was found."""
        return gravity_factors(self.assessment, self.findings)

    def report(self) -> str:
        """Return the report as text."""
        whole = report(self.assessment, list(self.findings), self.verdict)
        return whole + factors_text(self.gravity_factors, self.joints)


def check(
    model: RobotModel, recording: Recording, joints: Mapping[str, str] | None = None,
    kind: Kind | None = None, known: KnownEfforts | None = None
) -> Checkup:
    """
    Compare a model with a recording of its robot.

    Joints without a recording, as of a gripper, are assumed at rest at zero.

    :param recording: joint states with efforts
    :param joints: recorded joint names by the model's, if automatic matching fails
    :param kind: source of the samples; None for poses at rest if there are enough, else the motion
    :param known: efforts of friction and rotors that are known, which are part of the model
    :raises RecordingError: data are missing, or the model has no mass
    """
    require_scipy()
    if not model.inertial_parameters.any():
        raise RecordingError('no moving link has a mass: give the links an <inertial>')
    names = match_joints(model.joint_names, recording.names, joints)
    recorded = recording.of_joints(list(names.values()))
    check_units(model, names, recorded)
    efforts = {
        name: effort[np.isfinite(effort)]
        for name, effort in zip(recorded.names, recorded.effort.T, strict=True)
    }
    no_efforts = [name for name, effort in efforts.items() if not len(effort)]
    absent = [name for name in model.joint_names if name not in names]
    notes = [f'no effort recorded, not compared: {", ".join(no_efforts)}'] if no_efforts else []
    notes += [f'not recorded, assumed at rest at zero: {", ".join(absent)}'] if absent else []
    samples = take_samples(clean(recorded.part(slice(None), *notes)), kind)

    def predict(without: Container[str]) -> Prediction:
        """Return the prediction of the joints whose recorded name is not in a container."""
        compared = {name: other for name, other in names.items() if other not in without}
        moved = {name: other for name, other in names.items() if other in without}
        return Prediction(model, compared, samples, moved=moved, known=known)

    prediction = predict(no_efforts)
    if not np.isfinite(prediction.rigid).all():
        raise RecordingError('positions are so large that the model has no finite effort')
    constant = {  # efforts that are equal in all samples, by joint
        name: float(effort[0])
        for name, effort in efforts.items() if len(effort) and (effort == effort[0]).all()
    }
    findings = _no_effort(prediction, constant)
    unusable = {*no_efforts, *constant}
    if len(unusable) == len(names):
        return Checkup(Assessment(prediction), tuple(findings), tuple(names))
    assessment = Assessment(predict(unusable))
    return Checkup(assessment, (*findings, *find_causes(assessment)), tuple(names))


def check_units(model: RobotModel, joints: Mapping[str, str], recording: Recording) -> None:
    """Raise an error if a joint travels far beyond a turn and its range: in degrees or mm."""
    known = {} if model.description is None else model.description.joints
    for name, other in joints.items():
        joint = known.get(name)
        values = recording.position[:, recording.names.index(other)]
        if joint is None or joint.type not in UNITS or not np.isfinite(values).any():
            continue
        turn, unit, setting = UNITS[joint.type]
        least, greatest = np.nanquantile(values, (0.05, 0.95))
        lower, upper = joint.limits.lower, joint.limits.upper
        if lower < upper and greatest - least > FAR * max(turn, upper - lower):
            raise RecordingError(
                f'{name} moves from {least:.4g} to {greatest:.4g}, its limits are {lower:.4g} to '
                f'{upper:.4g}: the positions are in {unit}, or of the motors (of a table: --table '
                f'{setting}); correct the driver or the recording'
            )


def _no_effort(prediction: Prediction, constant: Mapping[str, float]) -> list[Finding]:
    """Return findings for joints with a constant effort; loaded ones must be fixed."""
    if constant.keys() >= set(prediction.joints.values()):
        values = 'exactly 0' if not any(constant.values()) else 'constant'
        text = f'every effort is {values}: the driver or simulation does not measure efforts'
        return [Finding(Cause.NO_EFFORT, text, tuple(range(len(prediction.joints))))]
    varies = prediction.rigid.std(axis=0)
    return [
        Finding(
            Cause.NO_EFFORT,
            f"{name}: the effort is {constant[other]:g} throughout; the model's varies by "
            f'{varies[place]:.2f} N m or N',
            must_be_fixed=bool(varies[place] >= LOADED_SHARE * varies.max()),
        )
        for place, (name, other) in enumerate(prediction.joints.items())
        if other in constant
    ]


def find_causes(assessment: Assessment) -> list[Finding]:
    """Return the findings of all rules, in the order of the report: large and significant ones."""
    faults, others = find_faults(assessment), [*find_remainders(assessment)]
    if wrong_robot := another_robot(assessment, faults):
        return [wrong_robot, *(finding for finding in others if not finding.must_be_fixed)]
    return [*faults, *others]


def found_parameters(checkup: Checkup) -> dict[str, Value]:
    """Return the node's parameters that were found without doubt; empty if none were."""
    all_joints = len(checkup.assessment.joints)
    values: dict[str, Value] = {}
    if any(f.cause is Cause.COMPENSATED and len(f.joints) == all_joints for f in checkup.findings):
        values['hardware_compensates'] = ['gravity']
    values |= {**_friction(checkup), **_payload(checkup), **_gravity_factor(checkup)}
    return {'joints': list(checkup.joints), **values} if values else {}


def _friction(checkup: Checkup) -> dict[str, Value]:
    """Return friction that is above zero beyond doubt; zero for other joints."""
    assessment, found, spoilt = checkup.assessment, dict[str, Value](), _spoilt(checkup)
    for kind in () if assessment.at_rest else ('viscous', 'coulomb'):
        by_name = {
            joint.name: _certain(assessment.best.parameter(kind, place))
            for place, joint in enumerate(assessment.joints)
            if place not in spoilt
        }
        if any(by_name.values()):
            found[f'friction.{kind}'] = [by_name.get(name, 0.0) for name in checkup.joints]
    return {'friction.model': 'parameters', **found} if found else {}


def _spoilt(checkup: Checkup) -> set[int]:
    """Return the joints whose efforts may be in another unit, or of another robot."""
    return {
        joint for finding in checkup.findings if finding.cause in SPOILS_PARAMETERS
        for joint in finding.joints
    }


def _gravity_factor(checkup: Checkup) -> dict[str, Value]:
    """Return the factors of gravity, as long as the efforts are in N m or N."""
    spoilt = _spoilt(checkup)
    usable = [each for k, each in enumerate(checkup.gravity_factors) if k not in spoilt]
    found = parameter_value(usable, checkup.joints)
    return {'gravity_factor': found} if found else {}


def _certain(estimate: Estimate) -> float:
    return estimate.value if estimate.is_known and estimate.lower > 0.0 else 0.0


def _payload(checkup: Checkup) -> dict[str, Value]:
    """Return the tools that are missing in the model, as point masses."""
    if not any(finding.cause is Cause.MISSING_TOOL for finding in checkup.findings):
        return {}
    assessment = checkup.assessment
    loads = {
        tip.link: [assessment.best.fit.values[f'load {tip.link}', k] for k in range(4)]
        for tip in assessment.prediction.tips
        if tip.link in assessment.hypothesis.loaded
        and assessment.affected(assessment.load_change(tip))
        and _certain(assessment.best.parameter(f'load {tip.link}', 0))
    }
    if not loads:
        return {}
    return {
        'payload.link': [*loads],
        'payload.mass': [load[0] for load in loads.values()],
        'payload.com': [part / load[0] for load in loads.values() for part in load[1:]],
    }
