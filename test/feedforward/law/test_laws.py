# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The registry of control laws: one class is a whole mode, and the page has the same laws."""

from __future__ import annotations

from collections.abc import Iterator
import re
import runpy
import sys
from unittest.mock import MagicMock, patch

import numpy as np
import pytest

from rnea_ros.errors import InputError
from rnea_ros.feedforward import check_efforts
from rnea_ros.feedforward.law import (
    LAWS,
    ControlLaw,
    LoadedModel,
    Parts,
    ReferenceMotion,
    control_law,
)
from rnea_ros.feedforward.settings import resolve
from rnea_ros.node.parameters import PARAMETERS, complete_values, settings_from
from support.cases import each
from support.control.control_rig import Array, Rig, mixed_arm, panda_arm, swing
from support.models.robots import ROOT

NAME = 'desired_velocity'


@pytest.fixture
def law() -> Iterator[type[ControlLaw]]:
    """Register a law for one test."""

    class DesiredVelocity(ControlLaw):
        """ID(q, qd_d, qdd_d + Kp e + Kd e') + Kp e + Kd e'."""

        name = NAME
        needs_gains = True

        def _follow(
            self, q: Array, qd: Array, reference: ReferenceMotion, feedback: Array
        ) -> Parts:
            _, qd_d, qdd_d = reference
            return Parts(q, qd_d, qdd_d, acceleration=feedback, effort=feedback)

    yield DesiredVelocity
    del control_law._LAWS[NAME]


def rig_of(law: type[ControlLaw]) -> Rig:
    """Return a rig with the law, by the value of the parameter."""
    names = panda_arm().joint_names
    values = complete_values({'mode': law.name, 'joints': [*names], 'gains.kp': [5.0]})
    mode = settings_from(values, names).mode
    assert mode is law
    rig = Rig(
        panda_arm(), mode=mode, kp=(5.0,), kd=(1.0,), armature=(0.1,), ramp_duration=0.01,
        effort_rate_limit=(1e9,),
    )  # fmt: skip
    rig.q[:] = (0.1, -0.7, 0.2, -2.1, -0.1, 1.6, 0.7)
    rig.activate()
    rig.controller.follow(swing(names, rig.q, rig.q + 0.05, 0.2), rig.now)
    return rig


def test_a_new_law_is_a_value_of_the_parameter_until_it_is_gone(law: type[ControlLaw]) -> None:
    assert PARAMETERS['mode'].description.endswith(f' | {NAME}')
    PARAMETERS['mode'].check('mode', NAME)
    del control_law._LAWS[NAME]
    with pytest.raises(InputError, match=f'{NAME}. is none of gravity'):
        PARAMETERS['mode'].check('mode', NAME)
    control_law._LAWS[NAME] = law


def test_a_new_law_follows_a_motion_by_its_equation(law: type[ControlLaw]) -> None:
    rig = rig_of(law)
    assert rig.controller.law.name == NAME
    assert rig.controller.following
    for _ in range(100):
        command = rig.tick()
        wanted = rig.controller.reference_at(rig.now)
        assert command is not None
        assert wanted is not None
        feedback = 5.0 * (wanted.position - rig.q) + (wanted.velocity - rig.qd)
        acceleration = wanted.acceleration + feedback
        expected = rig.model.inverse_dynamics(rig.q, wanted.velocity, acceleration)
        expected += 0.1 * acceleration + feedback
        np.testing.assert_allclose(command, expected, rtol=1e-9, atol=1e-9)
        terms = rig.controller.terms()
        np.testing.assert_allclose(terms.total(), command, rtol=1e-9, atol=1e-10)
        rest = np.zeros_like(rig.q)
        through_mass = rig.model.inverse_dynamics(rig.q, rest, feedback) - rig.gravity
        np.testing.assert_allclose(
            terms.feedback, feedback + 0.1 * feedback + through_mass, rtol=1e-9, atol=1e-9
        )


def test_efforts_of_a_new_law_are_checked_before_settings_take_effect(
    law: type[ControlLaw], monkeypatch: pytest.MonkeyPatch
) -> None:
    rig = Rig(panda_arm())
    check_efforts(rig.model, rig.resolved)
    endless = np.full(rig.model.nv, np.inf)
    monkeypatch.setattr(law, '_follow', lambda *_: Parts(effort=endless))
    with pytest.raises(InputError, match=f'in mode {NAME} are not finite'):
        check_efforts(rig.model, resolve(rig.settings, rig.model))


def test_a_name_is_that_of_one_law(law: type[ControlLaw]) -> None:
    with pytest.raises(TypeError, match=f'there is a control law {NAME} already'):
        type('Another', (ControlLaw,), {'name': law.name})
    assert LAWS[NAME] is law


@each('law', LAWS.values())
def test_a_law_is_what_it_says_of_itself(law: type[ControlLaw]) -> None:
    model = mixed_arm()
    rng = np.random.default_rng(0)
    q, qd, q_d, qd_d, qdd_d = rng.normal(size=(5, model.nv))
    still = np.zeros(model.nv)

    def effort(gain: float, *reference: Array) -> Array:
        gains = np.full(model.nv, gain)
        motion = (reference[0], reference[1], reference[2])
        return law(LoadedModel(model), gains, gains).effort(q, qd, motion).copy()

    gravity = model.gravity_torques(q)
    follows = not np.allclose(effort(1.0, q_d, qd_d, qdd_d), effort(1.0, q, qd, still))
    assert law.follows_motions is follows
    assert law.carries_gravity is bool(effort(0.0, q, still, still).any())
    if not law.needs_gains:
        assert law.carries_gravity
    if not law.follows_motions:
        np.testing.assert_allclose(effort(1.0, q_d, qd_d, qdd_d), gravity)


def test_terms_before_the_first_effort_are_zero() -> None:
    zero = np.zeros(panda_arm().nv)
    for law in LAWS.values():
        assert not law(LoadedModel(panda_arm()), zero, zero).terms().total().any()


def test_the_page_has_every_law_and_the_units_of_its_gains() -> None:
    page = (ROOT / 'docs/control.md').read_text(encoding='utf-8')
    table = page[page.index('| `mode` |') : page.index('Units of `gains')]
    assert re.findall(r'^\| `(\w+)` \|', table, re.MULTILINE)[1:] == [*LAWS]
    units = dict(re.findall(r'^- `?(all other modes|\w+)`?: (.+? for `kd`)', page, re.MULTILINE))
    assert units.keys() <= {'all other modes', *LAWS}
    for name, law in LAWS.items():
        kp, kd = law.gain_units
        stated = units.get(name, units['all other modes'])
        assert stated == f'{kp} for `kp`, {kd} for `kd`', name


def test_launch_files_offer_every_control_law() -> None:
    modules = {name: MagicMock() for name in ('launch', 'launch.actions', 'launch.substitutions')}
    with patch.dict(sys.modules, modules):
        offered = runpy.run_module('rnea_ros.launch_arguments')['MODES']
    assert offered == (*LAWS,)
