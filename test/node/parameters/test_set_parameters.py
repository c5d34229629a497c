# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Parameters set at the start, while active and while inactive: whole node, virtual time."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
import pytest

import rnea_ros
from rnea_ros.errors import InputError
from rnea_ros.feedforward import laws
from rnea_ros.feedforward.laws import ControlLaw
from rnea_ros.feedforward.loaded_model import HardwareCompensation
from support.ros.ros_process import NO_ROS, isolated, new_domain_id

pytest.importorskip('rclpy', reason=NO_ROS)

from rcl_interfaces.msg import ParameterDescriptor, SetParametersResult
from rcl_interfaces.srv import SetParameters
import rclpy
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.parameter import Parameter
from std_srvs.srv import Trigger

from rnea_ros.feedforward.settings import (
    PARAMETERS,
    NodeSettings,
    complete_values,
    missing_hardware_compensates,
    settings_from,
)
from rnea_ros.feedforward.settings.node import parse_compensation
from rnea_ros.node import control_setup
from rnea_ros.parameters import EACH, parameter
from rnea_ros.ros import ParameterServices
from support.ros.fake_robot import GRAVITY, JOINTS, LIMITS, MODEL, PANDA_ARM, POSE
from support.ros.virtual_node import VirtualRig, virtual_node

Array = NDArray[np.float64]
SUCCESS, FAILURE = TransitionCallbackReturn.SUCCESS, TransitionCallbackReturn.FAILURE
LOADED = MODEL.with_payload('fer_link8', 2.0).gravity_torques(POSE)
HEAVY = PANDA_ARM.replace('<mass value="', '<mass value="1')
LOAD: dict[str, Any] = {'payload__link': ['fer_link8'], 'payload__mass': [2.0]}

UNUSABLE: tuple[tuple[Mapping[str, Any], str], ...] = (
    ({'gravity': [0.0, 0.0, -9810.0]}, 'gravity: value 3 of 3, -9810.0 is not between'),
    ({'joints': ['elbow']}, 'joints: '),
    ({'joints': list(reversed(JOINTS))}, 'joints: /effort_controller takes commands in ano'),
    ({'payload__link': ['nose']}, "payload.link: 'nose' is not a link"),
    ({'payload__mass': [1.0, 2.0]}, 'payload.mass: [1.0, 2.0] has 2 values, not 1'),
    ({'gains__kp': [1.0] * 100_000}, 'gains.kp: [1.0, 1.0, 1.0, 1.0, ...] has 100000 values'),
    ({'robot_description': '<robot/>'}, 'robot_description: '),
    ({'base_sensor__topic': 'imu', 'base_sensor__link': 'fer_link3'}, 'moves with its joints'),
    ({'mode': 'w' * 100_000}, 'is none of gravity'),
    ({'rate': 500}, 'rate: 500 is of type integer, not double; write 1.0, not 1'),
    ({'no_such': 1.0}, 'no_such: no such parameter'),
    ({'realtime__cpu_affinity': [2**40]}, 'realtime.cpu_affinity: 1099511627776 is not betw'),
    ({'hardware_compensates': ['none', 'gravity']}, 'hardware_compensates: '),
    ({'base_sensor__topic': 'a b'}, "base_sensor.topic: 'a b': "),
    ({'rest_pose': [0.1, 0.2]}, 'rest_pose: [0.1, 0.2] has 2 values, not one for each of fer_j'),
    ({'rest_pose': [0.0] * 7}, "rest_pose: joint 'fer_joint4': 0 is not in [-3.07"),
)
ACTIVE: tuple[tuple[Mapping[str, Any], str], ...] = (
    ({'payload__inertia': [1.0, 0.0, 0.0, 1.0, 0.0, 9.0]}, 'triangle inequality'),
    ({'friction__coulomb': [-2.0]}, 'friction.coulomb'),
    ({'gravity_factor': [-0.5]}, 'gravity_factor: -0.5 is not between 0 and 2'),
    ({'friction__model': 'sticky'}, "'sticky' is none of none, urdf, parameters"),
    ({'armature': [0.1]}, 'armature: cannot be changed while active'),
    ({'rest_pose': list(POSE)}, 'rest_pose: cannot be changed while active'),
    ({'use_sim_time': True}, 'use_sim_time: cannot be changed while active'),
)


@pytest.fixture
def active() -> Iterator[VirtualRig]:
    with virtual_node() as rig:
        rig.wait_until_controlled().wait_for_command(GRAVITY)
        yield rig


def values_of(rig: VirtualRig) -> dict[str, Any]:
    return {name: rig.node.get_parameter(name).value for name in PARAMETERS}


def test_what_cannot_be_used_is_rejected_in_words_as_a_whole(active: VirtualRig) -> None:
    rig = active
    assert rig.change(**LOAD).successful
    rig.wait_for_command(LOADED)
    for rows in (ACTIVE, UNUSABLE):
        before = values_of(rig)
        for values, reason in rows:
            result = rig.change(**values)
            assert not result.successful
            assert reason in result.reason
            assert len(result.reason) < 500
            assert values_of(rig) == before, reason
        rig.run(0.5)
        assert rig.newest_is(0.0 * GRAVITY if rows is UNUSABLE else LOADED)
        if rows is not UNUSABLE:
            rig.node.trigger_deactivate()
    response = rig.call('/feedforward/tare', Trigger)
    assert (response.success, response.message) == (False, 'the node has no force-torque sensor')
    assert rig.node.trigger_activate() is SUCCESS
    rig.wait_for_command(LOADED)


def test_simulated_time_can_be_switched_on_and_off_before_the_node_is_active() -> None:
    with virtual_node(urdf=None) as rig:
        for simulated in (True, False, True, False):
            assert rig.change(use_sim_time=simulated).successful
            assert bool(rig.subscriptions['/clock']) is simulated


@pytest.mark.parametrize(('options', 'said'), [
    ({'wrench_inputs__names': ['flange'], 'wrench_inputs__flange__topic': 'wrench',
      'wrench_inputs__flange__link': 'nose'}, "no link 'nose'"),
    ({'payload__link': ['nose']}, "'nose' is not a link"),
])
def test_an_unusable_option_prevents_configure(options: dict[str, Any], said: str) -> None:
    with virtual_node(**options) as rig:
        rig.run(2.0)
        assert rig.logged('error: cannot configure: ') == rig.logged(said) == 1
        assert not rig.commands


def test_what_is_read_back_acts_through_several_lives(active: VirtualRig) -> None:
    rng, rig = np.random.default_rng(50), active
    for life in range(8):
        assert rig.node.trigger_deactivate() is SUCCESS
        desired = random_values(rng)
        for name, value in desired.items():
            result = rig.node.set_parameters_atomically([Parameter(name, value=value)])
            assert result.successful, result.reason
        assert rig.node.trigger_activate() is SUCCESS
        expected = effort_of(rig)
        rig.run(3.0)
        assert rig.newest_is(expected, 1e-6), (life, desired, expected, rig.newest)
        since = len(rig.commands)
        rig.run(1.0)
        assert len(rig.commands) - since == pytest.approx(desired['rate'], abs=1)
        assert rig.diagnostics['mode'] == desired['mode']
        assert ('base_stale' in rig.flags) == bool(desired['base_sensor.topic'])
        assert len(rig.subscriptions['/imu']) == bool(desired['base_sensor.topic'])
        assert len(rig.subscriptions['/joint_states']) == 1


def random_values(rng: np.random.Generator) -> dict[str, Any]:
    """Return parameters, one after the other, that may be set while inactive."""
    direction = rng.normal(size=3)
    return {
        'robot_description': str(rng.choice([PANDA_ARM, HEAVY])),
        'gravity': (9.81 * direction / np.linalg.norm(direction)).tolist(),
        'payload.link': ['fer_link8'] if rng.random() < 0.5 else [''],
        'payload.mass': [float(rng.uniform(0.1, 2.0))],
        'payload.com': rng.uniform(-0.1, 0.1, size=3).tolist(),
        'hardware_compensates': [
            ['none'], ['gravity'], ['payload'], ['gravity', 'payload'],
        ][rng.integers(4)],
        'rate': float(rng.choice([30.0, 60.0, 125.0])),
        'mode': str(rng.choice(['gravity', 'feedforward', 'feedback', 'computed_torque'])),
        'gains.kp': [float(rng.uniform(0.0, 100.0))],
        'effort_limits': [float(rng.choice([0.0, 5.0, 20.0]))],
        'friction.model': str(rng.choice(['none', 'urdf'])),
        'base_sensor.topic': str(rng.choice(['', 'imu'])),
        'differentiate_velocity': bool(rng.random() < 0.5),
    }  # fmt: skip


def effort_of(rig: VirtualRig) -> Array:
    """Return the effort that holds the arm under the parameters that are read back."""
    value = values_of(rig)
    model = rnea_ros.RobotModel.from_urdf(value['robot_description'])
    bare = loaded = model.with_gravity(tuple(value['gravity']))
    if list(value['payload.link']) != ['']:
        loaded = bare.with_payload('fer_link8', value['payload.mass'][0], value['payload.com'])
    weight = bare.gravity_torques(POSE)
    load = loaded.gravity_torques(POSE) - weight
    adds = value['hardware_compensates']
    effort = weight * ('gravity' not in adds) + load * ('payload' not in adds)
    limits = np.full(7, value['effort_limits'][0]) if value['effort_limits'][0] else LIMITS
    return np.asarray(np.clip(effort, -limits, limits))


def test_settings_are_made_and_resolved_once_a_change(
    active: VirtualRig, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: Counter[str] = Counter()

    def counted(kind: Any, name: str) -> None:
        original = getattr(kind, name)

        def call(*arguments: Any) -> Any:
            calls[name] += 1
            return original(*arguments)

        monkeypatch.setattr(kind, name, call)

    counted(control_setup, 'resolve')
    counted(NodeSettings, 'of')
    assert active.change(**LOAD).successful
    active.wait_for_command(LOADED)
    assert calls == {'resolve': 1, 'of': 1}
    active.node.trigger_deactivate()
    assert active.change(rate=50.0).successful
    assert active.node.trigger_activate() is SUCCESS
    active.wait_for_command(LOADED)
    assert calls == {'resolve': 2, 'of': 2}


def test_without_callbacks_after_a_set_as_on_humble_what_is_set_acts_too(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    name = 'add_post_set_parameters_callback'
    for owner in rclpy.node.Node.__mro__:  # Lyrical: of BaseNode
        if name in vars(owner):
            monkeypatch.delattr(owner, name)
    with virtual_node() as rig:
        rig.wait_until_controlled().wait_for_command(GRAVITY)
        assert rig.change(**LOAD).successful
        rig.wait_for_command(LOADED)


def test_exceptions_are_rejections(active: VirtualRig, monkeypatch: pytest.MonkeyPatch) -> None:
    message = Parameter('rate', value=1.0).to_parameter_msg()
    message.value.type = 200  # none of ROS's
    request, answer = SetParameters.Request(parameters=[message]), SetParameters.Response()
    (result,) = active.services['/feedforward/set_parameters'](request, answer).results
    assert not result.successful
    assert result.reason.startswith('rate: ')

    def broken(*_: Any) -> None:
        raise AssertionError('broken check')

    active.node.trigger_deactivate()
    monkeypatch.setattr('rnea_ros.node.feedforward_node.make_setup', broken)
    result = active.change(mode='feedforward')
    assert (result.successful, result.reason) == (False, 'mode: AssertionError: broken check')


# --- parameters of a law ------------------------------------------------------------------------


@pytest.fixture
def lifting() -> Iterator[Any]:
    """A law that adds the same effort to every joint."""

    class Lifting(ControlLaw):
        name = 'lifting'
        follows_motions = False

        @dataclass(frozen=True)
        class Parameters:
            effort: tuple[float, ...] = parameter(
                (0.0,), f'{EACH}, N m', (-1.0, 1.0), while_active=True
            )

        def weightless(self, q: Array, qd: Array) -> Array:
            lift: Array = np.array(self.parameters.effort)
            return self.gravity(q) + lift

    yield Lifting
    del laws._LAWS[Lifting.name]


def test_a_laws_own_parameter_is_declared_checked_read_and_acts(lifting: Any) -> None:
    with virtual_node(mode='lifting', lifting__effort=[0.5]) as rig:
        rig.wait_until_controlled().wait_for_command(GRAVITY + 0.5)
        assert rig.node.describe_parameter('lifting.effort').description == f'{EACH}, N m'
        for effort, reason in (([1.5], 'lifting.effort: 1.5 is not between -1 and 1 ('),
                               ([0.5, 0.5], 'lifting.effort: [0.5, 0.5] has 2 values, not 1')):
            assert rig.change(lifting__effort=effort).reason.startswith(reason)
        assert rig.change(lifting__effort=[0.1] * 7).successful
        rig.wait_for_command(GRAVITY + 0.1)
    settings = settings_from(complete_values({'lifting.effort': [0.2]}))
    assert settings.of_law(lifting) == lifting.Parameters((0.2,))


def test_a_law_that_is_not_registered_has_no_parameter() -> None:
    with pytest.raises(InputError, match=r'^lifting\.effort: no such parameter'):
        complete_values({'lifting.effort': [0.2]})


# --- what the hardware compensates, and gains of zero --------------------------------------------


def test_unstated_the_node_waits_and_asks_once() -> None:
    with virtual_node(hardware_compensates=['']) as rig:
        rig.run(3.0)
        (line,) = [text for text in rig.log.lines if 'hardware_compensates is not stated' in text]
        words = ('Franka', 'Universal Robots', 'KUKA', 'gravity', 'preset:=', "['none']")
        assert all(word in line for word in words), line
        assert not rig.commands
        assert rig.change(hardware_compensates=['none']).successful
        rig.wait_for_command(GRAVITY)


def test_unstated_it_is_configured_and_not_activated() -> None:
    with virtual_node(hardware_compensates=[''], autostart=False) as rig:
        rig.run(1.0)
        assert rig.node.trigger_configure() is SUCCESS
        assert rig.node.trigger_activate() is FAILURE
        assert rig.logged('error: cannot activate: hardware_compensates is not stated') == 1
        assert rig.change(hardware_compensates=['gravity']).successful
        assert rig.node.trigger_activate() is SUCCESS
        rig.wait_for_command(0.0 * GRAVITY)


@pytest.mark.parametrize(('given', 'parts'), [
    ([''], ()), ([], ()), (['none'], ()),
    (['gravity', 'payload'], (HardwareCompensation.GRAVITY, HardwareCompensation.PAYLOAD)),
    (['friction', 'friction'], (HardwareCompensation.FRICTION,)),
    (['none', 'gravity'], None), (['inertia'], None), (['None'], None),
])
def test_what_is_stated_is_what_is_left_to_the_hardware(given: list[str], parts: Any) -> None:
    if parts is None:
        with pytest.raises(InputError, match=r'^hardware_compensates: '):
            parse_compensation(given)
        return
    assert parse_compensation(given) == parts
    stated = given not in ([''], [])
    assert bool(missing_hardware_compensates({'hardware_compensates': given})) == (not stated)


def test_a_mode_without_gains_is_warned_of_once_at_each_change() -> None:
    with virtual_node(mode='feedback') as rig:
        rig.wait_until_controlled()
        assert rig.logged('warning: mode feedback with gains.kp and gains.kd of zero') == 1
        for mode, falls in (('computed_torque', False), ('feedback', True)):
            rig.log.lines.clear()
            assert rig.change(mode=mode).successful
            (line,) = rig.log.lines
            assert line.startswith(f'warning: mode {mode} with gains.kp and gains.kd of zero')
            assert line.endswith('the arm falls') == falls


# --- parameters set to the value in force --------------------------------------------------------

VALUES: dict[str, Any] = {
    'number': math.nan, 'numbers': [1.0, math.nan, math.inf], 'count': 1, 'counts': [1, 2],
    'flag': True, 'text': 'one', 'texts': ['', 'two'], 'gains': [2.0, 0.0],
}
OTHERS: tuple[tuple[str, Any], ...] = (
    ('number', 1.0), ('numbers', [1.0, math.nan]), ('numbers', [math.nan, 1.0, math.inf]),
    ('count', True), ('count', 1.0), ('flag', 1), ('counts', [1.0, 2.0]), ('text', 'One'),
    ('texts', ['two', '']), ('gains', [2, 1]),
)


@pytest.fixture
def node(monkeypatch: pytest.MonkeyPatch) -> Iterator[ParameterServices]:
    """A node with read-only parameters that accepts no change of any other but mode."""
    domain_id = new_domain_id()
    for name, value in isolated(domain_id).items():
        monkeypatch.setenv(name, value)
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=domain_id)
    node = ParameterServices('services', context=context, enable_rosout=False)
    node.declare_parameter('mode', 'a')
    for name, value in VALUES.items():
        node.declare_parameter(name, value)
        node.declare_parameter(f'fixed.{name}', value, ParameterDescriptor(read_only=True))
    node.add_on_set_parameters_callback(lambda changes: SetParametersResult(
        successful=all(change.name == 'mode' for change in changes), reason='no'
    ))
    yield node
    node.destroy_node()
    context.try_shutdown()


@pytest.mark.ros
def test_the_value_in_force_is_accepted_and_every_other_checked(node: ParameterServices) -> None:
    def is_accepted(*changes: tuple[str, Any]) -> bool:
        parameters = [Parameter(name, value=value) for name, value in changes]
        return bool(node.set_parameters_atomically(parameters).successful)

    for prefix in ('', 'fixed.'):
        for name, value in VALUES.items():
            assert is_accepted((f'{prefix}{name}', value))
        assert is_accepted(*((f'{prefix}{name}', value) for name, value in VALUES.items()))
        for name, value in OTHERS:
            assert not is_accepted((f'{prefix}{name}', value)), (name, value)
    assert is_accepted(('gains', [2, 0])), 'integers for doubles'
    assert is_accepted(('mode', 'b'), ('mode', 'a'))
    assert node.get_parameter('mode').value == 'a', 'the last one counts'
