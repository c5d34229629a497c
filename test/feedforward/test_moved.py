# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Names that examples used work at their old place for one version, with a warning."""

from importlib import import_module

import pytest

from rnea_ros.feedforward import JointBounds, laws, loaded_model, motion
from rnea_ros.feedforward.laws import ControlLaw
from rnea_ros.textbook import screw


@pytest.mark.parametrize(('module', 'place', 'name'), [
    ('inputs', JointBounds, 'JointBounds'), ('law', laws.ComputedTorque, 'ComputedTorque'),
    ('law', loaded_model.LoadedModel, 'LoadedModel'), ('trajectory', motion.Knots, 'Knots'),
    ('trajectory', motion.goals.JointTolerance, 'JointTolerance'),
])
def test_an_old_name_warns_and_says_the_new_place(module: str, place: type, name: str) -> None:
    old = import_module(f'rnea_ros.feedforward.{module}')
    with pytest.warns(DeprecationWarning, match=rf'{name} has moved: import it from rnea_ros\.'):
        assert getattr(old, name) is place
    with pytest.raises(AttributeError, match='no attribute'):
        old.no_such  # noqa: B018


def test_the_textbooks_are_the_same_modules_at_their_old_place() -> None:
    with pytest.warns(DeprecationWarning, match=r'import from rnea_ros\.textbook'):
        old = import_module('rnea_ros.dynamics.reference')
    assert import_module('rnea_ros.dynamics.reference.screw') is screw is old.screw


def test_a_law_of_the_old_form_is_refused_at_its_definition() -> None:
    with pytest.raises(TypeError, match='_follow is now follow, and returns the effort'):
        type('Old', (ControlLaw,), {'name': 'old', '_follow': lambda self: None})
    assert 'old' not in laws.LAWS
