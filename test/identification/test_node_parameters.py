# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Parameters that are written: the node takes them and commands the identified efforts."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from rnea_ros.feedforward.law import Feedforward, LoadedModel
from rnea_ros.feedforward.settings import ResolvedSettings, resolve
from rnea_ros.identification import Identification, payload_parameters
from rnea_ros.node import parameters
from rnea_ros.parameters import Value, parameter_file_text
from rnea_ros.robot import Payload
from support.models.robots import SHIPPED, load
from support.recorded.known_result import identified


def settings(result: Identification, values: dict[str, Value], folder: Path) -> ResolvedSettings:
    """Return what the node makes of the values, by a file."""
    path = folder / 'arm.yaml'
    path.write_text(parameter_file_text(values, ['made by a test']), encoding='utf-8')
    given = parameters.complete_values(parameters.read_parameter_file(path))
    return resolve(parameters.settings_from(given, parameters.listed_joints(given)), result.model)


def test_the_nodes_feedforward_equals_the_identified_efforts(tmp_path: Path) -> None:
    result = identified()
    resolved = settings(result, result.node_parameters(), tmp_path)
    law = Feedforward(
        LoadedModel(result.model), np.zeros(7), np.zeros(7),
        friction=resolved.friction, armature=resolved.armature,
    )  # fmt: skip
    (run,) = result.comparison.held_out
    commanded = np.array([
        law.effort(q, qd, (q, qd, qdd)).copy()
        for q, qd, qdd in zip(run.q, run.qd, run.qdd, strict=True)
    ])
    efforts = result.efforts(run.q, run.qd, run.qdd)
    np.testing.assert_allclose(commanded, efforts, rtol=1e-5, atol=1e-5)


def test_a_gripper_at_rest_without_efforts_is_left_out() -> None:
    result = identified()
    (run,) = result.fitted
    q, qd, effort = run.q.copy(), run.qd.copy(), run.effort.copy()
    q[:, 6], qd[:, 6], effort[:, 6] = 0.04, 1e-3, np.nan
    resting = replace(result, fitted=(replace(run, q=q, qd=qd, effort=effort),))
    assert resting.node_parameters()['joints'] == list(result.prior.joint_names[:6])


def test_only_what_differs_by_direction_and_what_is_there_is_written() -> None:
    result = identified()
    friction = replace(result.friction, offset=np.zeros(7))
    assert [*replace(result, friction=friction).node_parameters()] == [
        'joints', 'armature', 'friction.model', 'friction.viscous', 'friction.coulomb',
        'friction.load', 'friction.smoothing_velocity',
    ]  # fmt: skip
    friction = replace(friction, coulomb=np.array([7 * [0.3], 7 * [0.2]]))
    values = replace(result, friction=friction).node_parameters()
    assert values['friction.coulomb_negative'] == 7 * [0.2]
    assert 'friction.viscous_negative' not in values


def test_unrecorded_joints_are_left_out_gravity_and_payload_are_stated(tmp_path: Path) -> None:
    model = load(SHIPPED[0], gravity=(9.81, 0.0, 0.0))
    result = identified(model, silent=range(7, len(model.joint_names)))
    values = result.node_parameters()
    assert values['joints'] == [*model.joint_names[:7]]
    assert values['gravity'] == [9.81, 0.0, 0.0]
    resolved = settings(result, values, tmp_path)
    np.testing.assert_allclose(resolved.armature, result.armature)
    np.testing.assert_allclose(resolved.friction.viscous, result.friction.viscous)
    payload = Payload('fer_link7', 2.8, (0.01, 0.0, 0.1), (0.01, 0.0, 0.0, 0.02, 0.0, 0.015))
    values |= payload_parameters(payload)
    assert settings(result, values, tmp_path).parameters.payloads == (payload,)
