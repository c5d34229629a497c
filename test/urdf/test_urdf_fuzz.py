# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Whatever text comes in, out comes a usable model or an error of this package."""

from contextlib import suppress
from pathlib import Path
from random import Random
import re
import warnings

from hypothesis import given, settings
from hypothesis import strategies as st
import pytest

from rnea_ros import InputError, RneaError, RobotModel, UrdfError, UrdfWarning
from rnea_ros.urdf import parse_urdf
from support.fuzz.urdf_mutations import mutated
from support.models.oracles import random_tree
from support.models.robots import SHIPPED, joint, link, robot, vendor_robots

SEEDS = (SHIPPED[0].read_text(encoding='utf-8'), *map(random_tree, range(5)))
ATTRIBUTE = re.compile(r'"[^"]*"')
ELEMENT = re.compile(r'<[^<>]*>')
VALUES = (
    '', '0', '-1', '1e308', '-1e308', '1e-320', 'nan', 'inf', '-inf', 'x', '0 0 0', '0 0', '1_0',
    '0x10', '\uff11', 'fixed', 'floating', 'link_0', 'link_1', 'joint_1', '&lt;', '\u0000',
    '1 ' * 50,
)

fuzz = settings(max_examples=150)


def survive(text: str) -> None:
    """Read a text; where it is accepted, the model can be used."""
    model, message = None, ''
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', UrdfWarning)
        try:
            model = RobotModel.from_urdf(text)
        except RneaError as error:
            message = str(error)
    assert len(message) < 1300
    if model is None:
        return
    q = model.neutral_position
    with suppress(InputError):  # results above the largest float
        assert model.gravity_torques(q).shape == (model.nv,)
    for name in model.link_names:
        with suppress(InputError):
            assert model.forward_kinematics(q, name).shape == (4, 4)


@fuzz
@given(st.text())
def test_any_text(text: str) -> None:
    survive('<' + text)


@fuzz
@given(st.sampled_from(SEEDS), st.data())
def test_a_robot_with_some_attributes_replaced(text: str, data: st.DataObject) -> None:
    for _ in range(data.draw(st.integers(1, 3))):
        spans = [match.span() for match in ATTRIBUTE.finditer(text)]
        start, end = data.draw(st.sampled_from(spans))
        text = f'{text[:start]}"{data.draw(st.sampled_from(VALUES))}"{text[end:]}'
    survive(text)


@fuzz
@given(st.sampled_from(SEEDS), st.data())
def test_a_robot_with_an_element_doubled_or_taken_out(text: str, data: st.DataObject) -> None:
    spans = [match.span() for match in ELEMENT.finditer(text)]
    start, end = data.draw(st.sampled_from(spans))
    times = data.draw(st.sampled_from([0, 2]))
    survive(text[:start] + text[start:end] * times + text[end:])


@fuzz
@given(st.sampled_from(SEEDS), st.data())
def test_a_robot_with_a_stretch_overwritten(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    length = data.draw(st.integers(0, 40))
    survive(text[:start] + data.draw(st.text(max_size=10)) + text[start + length:])


@pytest.mark.parametrize('path', vendor_robots('panda', 'ur5_robot', 'so100', 'iris'))
def test_a_robot_of_a_vendor_with_mutations(path: Path) -> None:
    random, text = Random(path.stem), path.read_text(encoding='utf-8')
    for _ in range(40):
        survive('<' + mutated(random, text, random.choice(SEEDS)).lstrip('\ufeff \t\r\n<'))


def test_a_tree_with_mutations() -> None:
    random = Random(1)
    for _ in range(300):
        text = mutated(random, random.choice(SEEDS), random.choice(SEEDS))
        survive('<' + text.lstrip('\ufeff \t\r\n<'))


def test_a_long_chain_of_mimic_joints_takes_no_power_of_its_length() -> None:
    n = 3000
    text = robot(
        *(link(f'l{i}') for i in range(n)),
        *(
            joint(f'j{i}', 'continuous', f'l{i - 1}', f'l{i}', more=f'<mimic joint="j{i + 1}"/>')
            for i in range(1, n - 1)
        ),
        joint(f'j{n - 1}', 'continuous', f'l{n - 2}', f'l{n - 1}'),
    )
    assert {one.mimic and one.mimic.joint for one in parse_urdf(text).joints.values()} == {
        f'j{n - 1}', None
    }


def test_a_device_without_end_is_not_read_to_its_end() -> None:
    with pytest.raises(UrdfError, match='over 16777216 bytes'):
        RobotModel.from_urdf('/dev/zero')
