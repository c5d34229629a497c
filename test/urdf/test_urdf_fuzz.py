# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Whatever text comes in, out comes a usable model or an error of this package."""

from contextlib import suppress
from random import Random
import warnings

from rnea_ros import InputError, RneaError, RobotModel, UrdfWarning
from rnea_ros.urdf import parse_urdf
from support.fuzz.urdf_mutations import mutated
from support.models.oracles import random_tree
from support.models.robots import SHIPPED, joint, link, robot

SEEDS = (SHIPPED[0].read_text(encoding='utf-8'), *map(random_tree, range(5)))


def survive(text: str) -> None:
    error = None
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', UrdfWarning)
        try:
            model = RobotModel.from_urdf(text)
        except RneaError as caught:
            error = caught
    if error is not None:
        assert len(str(error)) < 1300
        return
    q = model.neutral_position
    with suppress(InputError):  # results above the largest float
        assert model.gravity_torques(q).shape == (model.nv,)
    for name in model.link_names:
        with suppress(InputError):
            assert model.forward_kinematics(q, name).shape == (4, 4)


def test_a_robot_with_mutations() -> None:
    random = Random(1)
    for _ in range(300):
        text = mutated(random, random.choice(SEEDS), random.choice(SEEDS))
        survive('<' + text.lstrip('\ufeff \t\r\n<'))


def test_a_long_chain_of_mimic_joints_takes_no_power_of_its_length() -> None:
    n = 2000
    text = robot(link('l0'), *(
        link(f'l{i}') + joint(
            f'j{i}', 'continuous', f'l{i - 1}', f'l{i}',
            more=f'<mimic joint="j{i + 1}"/>' if i < n else '',
        )
        for i in range(1, n + 1)
    ))
    leaders = {one.mimic and one.mimic.joint for one in parse_urdf(text).joints.values()}
    assert leaders == {f'j{n}', None}


def test_a_link_too_far_away_for_its_inertia_is_read_without_a_warning() -> None:
    survive(robot(link('base'), link('arm', 4.0, (-1e158, 0.0, 0.0)),
                  joint('a', 'continuous', 'base', 'arm')))
