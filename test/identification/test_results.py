# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""A result as text, JSON, picture, and as parameters that the node takes."""

from dataclasses import replace
import json
from pathlib import Path

import numpy as np
import pytest

from rnea_ros import identification
from rnea_ros.feedforward.laws import Feedforward
from rnea_ros.feedforward.loaded_model import LoadedModel
from rnea_ros.feedforward.settings import ResolvedSettings, complete_values, resolve, settings_from
from rnea_ros.identification import Identification, payload_parameters
from rnea_ros.identification.figures import figures
from rnea_ros.identification.report import picture, text
from rnea_ros.parameters import Value, parameter_file_text, read_parameter_file
from rnea_ros.robot import Payload
from support.models.robots import SHIPPED, description, load
from support.recorded.known_result import identified


@pytest.fixture(scope='module')
def result() -> Identification:
    return identified()


def test_the_verdict_comes_first(result: Identification) -> None:
    report = text(figures(result))
    assert report.startswith('better: the identified model of panda_arm is ')
    assert '\njudged on data that were not fitted: my_bag, 0.0 to 10.0 s\n' in report
    of = result.comparison
    worse = replace(result, comparison=replace(of, urdf=of.identified, identified=of.urdf))
    assert text(figures(worse)).startswith('not better: the identified model of panda_arm is no ')
    # Worse bodies do not pass thanks to friction.
    swapped = replace(of, identified=of.urdf_with_friction, urdf_with_friction=of.identified)
    assert (swapped.identified.moving_rms < swapped.urdf.moving_rms).all()
    assert of.is_better
    assert not swapped.is_better


def test_no_joint_may_be_much_worse(result: Identification) -> None:
    of, rests = result.comparison, np.arange(7) == 3
    urdf, fits = of.urdf, of.identified
    worse = np.where(rests, 2.5 * urdf.rms + 0.2 * of.effort_rms, fits.rms)
    for moving in (np.where(rests, np.nan, fits.moving_rms), fits.moving_rms):
        judged = replace(
            of, identified=replace(fits, rms=worse, moving_rms=moving),
            urdf=replace(urdf, moving_rms=np.where(np.isnan(moving), np.nan, urdf.moving_rms)),
        )
        first = text(figures(replace(result, comparison=judged))).splitlines()[0]
        # A joint that moves is judged in motion.
        if np.isnan(moving).any():
            assert first == 'not better: much worse than the URDF at fer_joint4'
        else:
            assert first.startswith('better: ')


def test_verdict_and_factor_are_of_motion_and_worse_joints_are_named(
    result: Identification,
) -> None:
    of, places = result.comparison, np.arange(7)
    urdf = replace(of.urdf, rms=0.1 * of.effort_rms, moving_rms=0.2 * of.effort_rms)
    rms, moving = 5.0 * urdf.rms, np.where(places == 3, 1.5, 0.25) * urdf.moving_rms
    rms[:2] = urdf.rms[:2]
    fits = replace(of.identified, rms=rms, moving_rms=moving)
    shown = figures(replace(result, comparison=replace(
        of, urdf=urdf, urdf_with_friction=urdf, identified=fits)))
    first, worse, mean, *_ = text(shown).splitlines()
    assert shown.better
    assert f' is {7.0 / (1.5 + 6.0 * 0.25):.1f} times closer' in first
    assert worse.startswith('worse than the URDF: fer_joint3, 10.0 % to 50.0 % in all samples; ')
    assert '; fer_joint4, 20.0 % to 30.0 % in motion; fer_joint5' in worse
    assert mean.startswith('mean error of the moving joints: URDF 20.0 %, ')
    assert 'worse than the URDF' not in text(figures(result))


def test_each_joint_has_its_errors_of_three_models(result: Identification) -> None:
    comparison = result.comparison
    rows = [row.split() for row in text(figures(result)).splitlines() if row.startswith('fer_j')]
    for joint, row in enumerate(rows[:7]):
        assert float(row[1]) == pytest.approx(comparison.effort_rms[joint], abs=0.006)
        errors = (comparison.urdf, comparison.urdf_with_friction, comparison.identified)
        for place, model in zip((2, 5, 8), errors, strict=True):
            assert float(row[place]) == pytest.approx(model.rms[joint], abs=0.006)
            percent = comparison.percent(model)[joint]
            assert float(row[place + 1].strip('(')) == pytest.approx(percent, abs=0.06)


def test_changes_about_the_centre_of_mass_have_deviations(result: Identification) -> None:
    (body, *_) = figures(result).bodies
    urdf = description(load(SHIPPED[1])).links[body.links[0]].inertial
    assert urdf is not None
    assert body.mass.urdf == pytest.approx((urdf.mass,))
    assert body.mass.identified == pytest.approx((1.1 * urdf.mass,))
    assert body.centre.urdf == pytest.approx(urdf.origin.xyz)
    assert body.inertia.urdf == pytest.approx(urdf.inertia)
    # A tenth more of everything: the centre stays, mass and inertia grow alike.
    assert body.centre.identified == pytest.approx(urdf.origin.xyz)
    assert body.inertia.identified == pytest.approx(1.1 * np.array(urdf.inertia))
    deviation = 0.02 * 1.1 * urdf.mass + 1e-4
    assert body.mass.deviation == pytest.approx((deviation,), rel=1e-6)
    # Only what the data determine has a deviation.
    assert np.isfinite(body.centre.deviation).tolist() == [False, False, True]


def test_deviations_are_those_of_samples_of_the_parameters(result: Identification) -> None:
    origin = (identification.ParameterOrigin.DATA,) * len(result.origin)
    body = figures(replace(result, origin=origin)).bodies[-1]
    size = result.parameters.size
    phi = np.random.default_rng(2).multivariate_normal(
        result.parameters, 1e-4 * result.covariance, 4000, check_valid='ignore'
    )[:, size - 10 :]
    centres = phi[:, 1:4] / phi[:, :1]
    np.testing.assert_allclose(100.0 * centres.std(axis=0), body.centre.deviation, rtol=0.1)


def test_what_the_data_do_not_determine_and_flaws_are_named_once(result: Identification) -> None:
    report = text(figures(result))
    for line in (
        'not determined by these data', '\n- fer_link1: mx, Jxx, Jxz\n',
        'without effect on any effort', '\n- fer_link1: my, Jxy, Jyz\n',
        'my_bag: 14 samples that repeat the previous one during motion were removed',
    ):
        assert report.count(line) == 1


def test_the_advice_names_a_joint_and_a_possible_motion(result: Identification) -> None:
    (run,) = result.fitted
    still = np.array([1.0, 0.1, *5 * [1.0]])
    slow = replace(run, q=run.q * still, qd=run.qd * still, qdd=run.qdd * still)
    assert not figures(result).advice
    # 90 % of the joint's range of 3.5 rad.
    report = text(figures(replace(result, fitted=(slow,))))
    assert '- fer_joint2: move over 3.2 rad or m (recorded: 0.12)' in report
    one_way = replace(run, qd=np.hstack([np.abs(run.qd[:, :1]), run.qd[:, 1:]]))
    advice = figures(replace(result, fitted=(one_way,))).advice
    assert [*advice] == ['fer_joint1: move in both directions']


def test_a_joint_without_effort_is_left_out_of_text_and_json() -> None:
    shown = figures(identified(silent=[6]))
    report = text(shown)
    rows = [row.split() for row in report.splitlines() if row.startswith('fer_joint7')]
    assert rows == [['fer_joint7', 'no', 'effort']]
    assert 'nan' not in report
    read = json.loads(json.dumps(shown.as_json(), allow_nan=False))
    assert read['better'] is True
    assert read['combinations'][0]['words'] == 'm(fer_link7)'
    assert read['joints'][6]['measured'] is None
    assert read['joints'][1]['identified']['rms'] == shown.joints[1].identified.rms
    assert read['bodies'][0]['mass']['identified'] == list(shown.bodies[0].mass.identified)


def test_a_joint_with_effort_has_2_axes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip('matplotlib', reason='matplotlib is not installed')
    from matplotlib.figure import Figure

    seen: list[Figure] = []
    monkeypatch.setattr(Figure, 'savefig', lambda figure, *_, **__: seen.append(figure))
    result = identified(silent=[6])
    picture(tmp_path / 'a.png', result)
    (figure,) = seen
    assert len(figure.axes) == 12
    measured, urdf, best = (np.asarray(line.get_ydata(), float) for line in figure.axes[0].lines)
    np.testing.assert_array_equal(figure.axes[1].lines[1].get_ydata(), measured - urdf)
    np.testing.assert_array_equal(figure.axes[1].lines[-1].get_ydata(), measured - best)
    title = figure.axes[1].get_title(loc='right')
    assert title.startswith(f'RMS: URDF {result.comparison.urdf.rms[0]:.2f} (')


def settings(result: Identification, values: dict[str, Value], folder: Path) -> ResolvedSettings:
    """Return what the node makes of the values, by a file."""
    path = folder / 'arm.yaml'
    path.write_text(parameter_file_text(values, ['made by a test']), encoding='utf-8')
    given = complete_values(read_parameter_file(path))
    return resolve(settings_from(given), result.model)


def test_the_nodes_feedforward_commands_the_identified_efforts(
    result: Identification, tmp_path: Path
) -> None:
    resolved = settings(result, result.node_parameters(), tmp_path)
    law = Feedforward(
        LoadedModel(result.model), np.zeros(7), np.zeros(7),
        friction=resolved.joint_friction, armature=resolved.rotor_inertia,
    )  # fmt: skip
    (run,) = result.comparison.held_out
    commanded = np.array([
        law.effort(q, qd, (q, qd, qdd)).copy()
        for q, qd, qdd in zip(run.q, run.qd, run.qdd, strict=True)
    ])
    efforts = result.efforts(run.q, run.qd, run.qdd)
    np.testing.assert_allclose(commanded, efforts, rtol=1e-5, atol=1e-5)


def test_a_gripper_at_rest_without_efforts_is_left_out(result: Identification) -> None:
    (run,) = result.fitted
    q, qd, effort = run.q.copy(), run.qd.copy(), run.effort.copy()
    q[:, 6], qd[:, 6], effort[:, 6] = 0.04, 1e-3, np.nan
    resting = replace(result, fitted=(replace(run, q=q, qd=qd, effort=effort),))
    assert resting.node_parameters()['joints'] == list(result.prior.joint_names[:6])


def test_only_what_differs_and_what_is_there_is_written(result: Identification) -> None:
    friction = replace(result.friction, offset=np.zeros(7))
    assert [*replace(result, friction=friction).node_parameters()] == [
        'joints', 'gravity_factor', 'armature', 'friction.model', 'friction.viscous',
        'friction.coulomb', 'friction.load', 'friction.smoothing_velocity',
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
    np.testing.assert_allclose(resolved.rotor_inertia, result.armature)
    np.testing.assert_allclose(resolved.joint_friction.viscous, result.friction.viscous)
    assert values['gravity_factor'] == [1.0]  # instead of one for the URDF's masses
    payload = Payload('fer_link7', 2.8, (0.01, 0.0, 0.1), (0.01, 0.0, 0.0, 0.02, 0.0, 0.015))
    values |= payload_parameters(payload)
    assert settings(result, values, tmp_path).payloads == (payload,)
