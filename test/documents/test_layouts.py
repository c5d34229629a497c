# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The layouts for PlotJuggler and Foxglove show topics and keys that exist."""

import json
import re
import xml.etree.ElementTree as ElementTree

import pytest

from support.models.robots import ROOT, load
from support.ros.ros_process import NO_ROS

pytest.importorskip('rclpy', reason=NO_ROS)

from diagnostics_tables import CONTROL_DIAGNOSTICS

from rnea_ros.node.outputs.terms import NAMES

LAYOUTS = ROOT / 'layouts'
STATUS = 'feedforward: control'
JOINTS = load(ROOT / 'urdf/panda_arm.urdf').joint_names
TOPICS = {'/joint_states', '/feedforward/effort', *(f'/feedforward/terms/{x}' for x in NAMES)}


def test_plotjuggler_shows_terms_and_diagnostics_that_exist() -> None:
    root = ElementTree.parse(LAYOUTS / 'plotjuggler.xml').getroot()
    names = {curve.attrib['name'] for curve in root.iter('curve')}
    efforts = {f'{topic}/{joint}/effort' for topic in TOPICS for joint in JOINTS}
    assert efforts <= names
    keys = {name.removeprefix(f'/diagnostics/{STATUS}/') for name in names - efforts}
    assert keys
    assert keys <= CONTROL_DIAGNOSTICS.keys() | {'level'}
    (selected,) = root.iter('selected_topics')
    assert set(selected.attrib['value'].split(';')) == {*TOPICS, '/diagnostics'}


def test_foxglove_shows_terms_and_diagnostics_that_exist() -> None:
    layout = json.loads((LAYOUTS / 'foxglove.json').read_text(encoding='utf-8'))
    panels = layout['configById'].values()
    paths = {path['value'] for panel in panels for path in panel.get('paths', ())}
    assert paths == {f'{topic}.effort[{k}]' for topic in TOPICS for k in range(len(JOINTS))}
    assert {panel.get('topicToRender', '/diagnostics') for panel in panels} == {'/diagnostics'}
    assert {panel.get('selectedName', STATUS) for panel in panels} == {STATUS}
    shown = set(re.findall(r'\w+![\w-]+', json.dumps(layout['layout']) + json.dumps([*panels])))
    assert shown == layout['configById'].keys()
