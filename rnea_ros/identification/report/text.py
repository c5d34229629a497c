# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The report as text: verdict, errors, changes in the URDF, friction, what the data lack."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
import math

from ...preflight import lay_out
from .bodies import Body, Quantity
from .figures import Errors, Figures, JointFigures

JOINT_HEADER = ('joint', 'measured', 'URDF', 'URDF + friction', 'identified', 'moving')
BODY_HEADER = ('body', '', 'URDF', 'identified', '+-', 'from the data')
FRICTION_HEADER = (
    'joint', 'viscous', 'Coulomb', 'per load', 'smoothing velocity', 'rotor inertia', 'offset'
)  # fmt: skip


def text(figures: Figures) -> str:
    """
    Return the report of a result.

    :param figures: its figures
    """
    sections = [_verdict(figures), _errors(figures), _changes(figures), _friction(figures)]
    sections += [_undetermined(figures), _list('notes', figures.notes)]
    sections += [_list('flaws of the recordings', figures.flaws)]
    return '\n\n'.join(section for section in sections if section)


def _verdict(figures: Figures) -> str:
    urdf, with_friction, identified = figures.mean_percent.values()
    judged = '; '.join(figures.judged_on)
    if figures.better:
        first = (
            f'better: the identified model of {figures.robot} is {urdf / identified:.1f} times '
            'closer to the measured efforts than the URDF'
        )
    else:
        first = (
            f'not better: the identified model of {figures.robot} is no closer to the measured '
            'efforts than the URDF with friction'
        )
    return '\n'.join([
        first,
        f'mean error of the joints: URDF {urdf:.1f} %, URDF with friction {with_friction:.1f} %, '
        f'identified {identified:.1f} % of the measured effort',
        f'judged on data that were not fitted: {judged}',
        f'fitted: {"; ".join(figures.fitted)}',
    ])


def _errors(figures: Figures) -> str:
    rows = [JOINT_HEADER, *map(_error_row, figures.joints)]
    return '\n'.join([
        'RMS error of the effort, N m or N, and in per cent of the measured effort; moving: '
        'identified, only while the joint moves',
        lay_out(rows, left=(0,)),
    ])


def _error_row(joint: JointFigures) -> tuple[str, ...]:
    if not joint.has_effort:
        return (joint.name, 'no effort', '', '', '', '')
    models = (joint.urdf, joint.urdf_with_friction, joint.identified)
    moving = f'{joint.identified.moving_rms:.2f}' if _known(joint.identified) else '-'
    return (joint.name, f'{joint.measured:.2f}', *map(_error, models), moving)


def _known(errors: Errors) -> bool:
    return math.isfinite(errors.moving_rms)


def _error(errors: Errors) -> str:
    return f'{errors.rms:.2f} ({errors.percent:.1f} %)'


def _changes(figures: Figures) -> str:
    rows: list[tuple[str, ...]] = [BODY_HEADER]
    for body in figures.bodies:
        rows += _body_rows(body)
    if len(rows) == 1:
        return ''
    return '\n'.join([
        'what changes in the URDF; a body is a link with all links fixed to it; +- one standard '
        'deviation',
        lay_out(rows, left=(0, 1, 5)),
    ])


def _body_rows(body: Body) -> Iterator[tuple[str, ...]]:
    quantities = (
        ('mass, kg', body.mass, 1.0, (0,)),
        ('centre of mass x y z, mm', body.centre, 1000.0, (0, 1, 2)),
        ('inertia xx yy zz, g m^2', body.inertia, 1000.0, (0, 3, 5)),
    )
    first = body.links[0]
    for label, quantity, factor, shown in quantities:
        if quantity.urdf == quantity.identified:
            continue
        cells = (quantity.urdf, quantity.identified, quantity.deviation)
        yield (
            first,
            label,
            *(' '.join(_digits(factor * each[k]) for k in shown) for each in cells),
            _share(quantity),
        )
        first = ''


def _share(quantity: Quantity) -> str:
    known, of = quantity.from_data
    return 'yes' if known == of else f'{known} of {of}' if known else 'no'


def _friction(figures: Figures) -> str:
    rows: list[tuple[str, ...]] = [FRICTION_HEADER]
    for joint in figures.joints:
        if not joint.has_effort:
            continue
        estimates = (joint.viscous, joint.coulomb, joint.load)
        rows.append((
            joint.name,
            *map(_estimate, estimates),
            _digits(joint.smoothing_velocity),
            *map(_estimate, (joint.armature, joint.offset)),
        ))
    return '\n'.join([
        'friction: viscous N m s/rad, Coulomb N m, per N m of load; smoothing velocity rad/s; '
        'rotor inertia kg m^2; offset of the effort N m',
        lay_out(rows, left=(0,)),
    ])


def _estimate(estimate: tuple[float, float]) -> str:
    value, deviation = estimate
    if value == 0.0:
        return '0'
    return f'{_digits(value)} +- {_digits(deviation)}' if deviation > 0.0 else _digits(value)


def _digits(value: float) -> str:
    """Return a number with three significant digits and no exponent."""
    if value == 0.0 or not math.isfinite(value):
        return '0' if value == 0.0 else '?'
    decimals = min(max(2 - math.floor(math.log10(abs(value))), 0), 4)
    return f'{round(value, decimals) + 0.0:.{decimals}f}'


def _undetermined(figures: Figures) -> str:
    lines = [
        'not determined by these data; the values of the URDF stay, or move with the sums that '
        'are determined:'
    ]
    for body in figures.bodies:
        if body.undetermined:
            lines.append(f'- {body.links[0]}: {", ".join(body.undetermined)}')
    if len(lines) == 1:
        lines = []
    invisible = [
        f'- {body.links[0]}: {", ".join(body.invisible)}'
        for body in figures.bodies
        if body.invisible
    ]
    if invisible:
        lines += ['without effect on any effort, so no recording can determine them:', *invisible]
    sums = (
        f'{figures.identifiable} sums of parameters are determined, condition '
        f'{figures.condition:.0f} (below 100 is good)'
    )
    return '\n'.join([*lines, sums])


def _list(title: str, sentences: Sequence[str]) -> str:
    return '\n'.join([f'{title}:', *(f'- {each}' for each in sentences)]) if sentences else ''


