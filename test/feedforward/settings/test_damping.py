# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Damping that adds energy is refused, with the greatest value that does not."""

import re
from typing import Any

import numpy as np
import pytest

from rnea_ros import RobotModel
from rnea_ros.errors import InputError
from rnea_ros.feedforward.settings import ResolvedSettings, Settings, SoftLimitSettings, resolve
from support.cases import each
from support.control.control_rig import panda_arm
from support.models.robots import ROOT, joint, link, load, robot


def settings(model: RobotModel, rate: float = 500.0, **given: Any) -> ResolvedSettings:
    return resolve(Settings(joints=model.joint_names, rate=rate, **given), model)


def greatest(error: InputError) -> float:
    found = re.search(r'at most (.+?)\. Lower', str(error))
    assert found is not None
    return float(found[1])


def test_it_is_refused_by_joint_with_the_greatest_value_and_the_way_out() -> None:
    with pytest.raises(InputError, match=r"damping: joint 'fer_joint7': 5 .* 500 Hz") as caught:
        settings(panda_arm(), damping=(5.0,))
    assert all(word in str(caught.value) for word in ('Lower it', 'rate', 'armature'))
    largest = greatest(caught.value)
    settings(panda_arm(), damping=(largest,))
    with pytest.raises(InputError):
        settings(panda_arm(), damping=(1.02 * largest,))
    settings(panda_arm(), rate=1000.0, damping=(1.9 * largest,))
    settings(panda_arm(), damping=(30.0,), armature=(0.2,))


@each('name', ['panda_arm', 'panda', 'ur5e'])
def test_what_is_accepted_brings_every_pose_to_rest(name: str) -> None:
    model = load(ROOT / f'urdf/{name}.urdf')
    with pytest.raises(InputError) as caught:
        settings(model, damping=(100.0,))
    one, D = np.eye(model.nv), 0.8 * greatest(caught.value) * np.eye(model.nv)
    rng = np.random.default_rng(1)
    for _ in range(50):
        change = 0.002 * np.linalg.solve(model.mass_matrix(rng.uniform(-1.5, 1.5, model.nv)), D)
        # One period of delay: qd[k + 1] = qd[k] - change qd[k - 1].
        step = np.block([[one, -change], [one, 0.0 * one]])
        assert np.abs(np.linalg.eigvals(step)).max() < 1.0


def test_too_much_in_a_zone_is_refused_if_stated_and_lowered_if_not() -> None:
    zones = settings(panda_arm(), soft_limits=SoftLimitSettings((0.3,), (200.0,))).soft_limits
    assert zones.damping.min() < 10.0
    for stiffness, damping, reason in ((200.0, 30.0, 'fer_joint7'), (2000.0, -1.0, 'stiffness')):
        given = SoftLimitSettings((0.3,), (stiffness,), (damping,))
        with pytest.raises(InputError, match=rf'soft_limits\.damping: joint .*{reason}'):
            settings(panda_arm(), soft_limits=given)


def test_a_spring_of_the_urdf_that_is_too_stiff_is_lowered() -> None:
    ends = '<limit lower="-1" upper="1" effort="9" velocity="3"/><safety_controller '
    ends += 'k_velocity="80" k_position="100" soft_lower_limit="-0.8" soft_upper_limit="0.8"/>'
    turning = joint('j', 'continuous', 'base', 'tip', axis=(0, 1, 0), more=ends)
    urdf = robot(link('base'), link('tip', 0.5), turning.replace('continuous', 'revolute'))
    model = load(urdf)
    zones = settings(model).soft_limits
    inertia = model.mass_matrix(np.zeros(1))[0, 0]
    assert zones.damping[0] == pytest.approx(0.995 * inertia / 0.002)
    assert zones.stiffness[0] == pytest.approx(zones.damping[0] / 0.008)
    assert settings(model, armature=(1.0,)).soft_limits.stiffness[0] == 8000.0


def test_the_values_of_the_pages_are_accepted() -> None:
    zones = SoftLimitSettings((0.6,), (200.0, 200.0, 200.0, 200.0, 25.0, 25.0, 25.0))
    settings(panda_arm(), damping=(2.0,) * 4 + (0.5,) * 3, soft_limits=zones)
    for name in ('panda_arm', 'ur5e'):
        settings(load(ROOT / f'urdf/{name}.urdf'), damping=(0.1,))

