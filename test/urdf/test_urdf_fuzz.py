# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Whatever text comes in, out comes a usable model or one kind of error."""

from __future__ import annotations

import re
import warnings

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
from oracles import random_tree
from robots import SHIPPED

from rnea_ros import RobotModel, UrdfError, UrdfWarning

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
    with warnings.catch_warnings():
        warnings.simplefilter('ignore', UrdfWarning)
        try:
            model = RobotModel.from_urdf(text)
        except UrdfError:
            return
    zero = np.zeros(model.nv)
    assert model.gravity_torques(zero).shape == (len(model.joint_names),)
    for link in model.link_names:
        assert model.forward_kinematics(zero, link).shape == (4, 4)


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
