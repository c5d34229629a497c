# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""How processes are kept out of the shared memory of Fast DDS, and off the network."""

from collections.abc import Mapping

import pytest

from rnea_ros.shared_memory import (
    LOCALHOST_ONLY,
    RANGE,
    loopback_by_default,
    on_loopback,
    without_shared_memory,
)
from support.models.robots import ROOT

NEW, OLD = 'FASTDDS_DEFAULT_PROFILES_FILE', 'FASTRTPS_DEFAULT_PROFILES_FILE'
UDP = {'FASTDDS_BUILTIN_TRANSPORTS': 'UDPv4'}
PROFILE = str(ROOT / 'config/udp_on_loopback.xml')


@pytest.mark.parametrize(('environment', 'variables'), [
    ({}, UDP),
    ({RANGE: 'SUBNET'}, UDP),
    ({RANGE: 'LOCALHOST', 'ROS_DISTRO': 'kilted'}, {RANGE: 'SYSTEM_DEFAULT', NEW: PROFILE}),
    (
        {RANGE: 'LOCALHOST', 'ROS_DISTRO': 'jazzy', 'RMW_IMPLEMENTATION': 'rmw_fastrtps_cpp'},
        {RANGE: 'SYSTEM_DEFAULT', OLD: PROFILE},
    ),
    (
        {LOCALHOST_ONLY: '1', 'ROS_DISTRO': 'humble'},
        {LOCALHOST_ONLY: '0', RANGE: 'SYSTEM_DEFAULT', OLD: PROFILE},
    ),
    ({LOCALHOST_ONLY: '0', 'ROS_DISTRO': 'humble'}, UDP),
    ({LOCALHOST_ONLY: '1', 'ROS_DISTRO': 'kilted'}, UDP),
])
def test_udp_is_chosen_by_a_variable_or_by_a_profile(
    environment: Mapping[str, str], variables: Mapping[str, str]
) -> None:
    assert without_shared_memory(environment) == variables


def test_without_a_ros_distribution_one_profile_is_given() -> None:
    after = without_shared_memory({RANGE: 'LOCALHOST'})
    assert after in ({RANGE: 'SYSTEM_DEFAULT', name: PROFILE} for name in (NEW, OLD))


@pytest.mark.parametrize('chosen', [
    {NEW: 'mine.xml'}, {OLD: 'mine.xml'}, {'RMW_IMPLEMENTATION': 'rmw_cyclonedds_cpp'},
    {'FASTDDS_BUILTIN_TRANSPORTS': 'LARGE_DATA', RANGE: 'SUBNET'},
    {OLD: 'mine.xml', LOCALHOST_ONLY: '1', 'ROS_DISTRO': 'humble'},
])
def test_what_the_user_chose_stays_and_so_does_localhost(chosen: Mapping[str, str]) -> None:
    environment = {RANGE: 'LOCALHOST', **chosen}
    after = environment | without_shared_memory(environment)
    assert {name: after[name] for name in environment} == environment


@pytest.mark.parametrize(('environment', 'variables'), [
    ({}, {RANGE: 'LOCALHOST'}), ({'ROS_DISTRO': 'jazzy'}, {RANGE: 'LOCALHOST'}),
    ({'ROS_DISTRO': 'humble'}, {LOCALHOST_ONLY: '1'}),
])
def test_loopback_is_chosen_by_the_variable_that_a_distribution_reads(
    environment: Mapping[str, str], variables: Mapping[str, str]
) -> None:
    assert on_loopback(environment) == variables


@pytest.mark.parametrize(('environment', 'variables'), [
    ({}, {RANGE: 'LOCALHOST'}), ({RANGE: 'SUBNET'}, {}), ({RANGE: 'LOCALHOST'}, {}),
    ({RANGE: 'LOCALHOST', 'ROS_DISTRO': 'humble'}, {LOCALHOST_ONLY: '1'}),
    ({LOCALHOST_ONLY: '0', 'ROS_DISTRO': 'humble'}, {}),
])
def test_a_simulation_is_on_loopback_unless_the_user_has_chosen(
    environment: Mapping[str, str], variables: Mapping[str, str]
) -> None:
    assert loopback_by_default(environment) == variables
