# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""How processes are kept out of the shared memory of Fast DDS, and off the network."""

import pytest

from rnea_ros.shared_memory import (
    LOCALHOST_ONLY,
    RANGE,
    loopback_by_default,
    on_loopback,
    without_shared_memory,
)
from support.models.robots import ROOT

Variables = dict[str, str]

NEW, OLD = 'FASTDDS_DEFAULT_PROFILES_FILE', 'FASTRTPS_DEFAULT_PROFILES_FILE'
UDP = {'FASTDDS_BUILTIN_TRANSPORTS': 'UDPv4'}
PROFILE = str(ROOT / 'config/udp_on_loopback.xml')
LOCAL, HUMBLE, JAZZY = {RANGE: 'LOCALHOST'}, {'ROS_DISTRO': 'humble'}, {'ROS_DISTRO': 'jazzy'}
ONLY, DEFAULT = {LOCALHOST_ONLY: '1'}, {RANGE: 'SYSTEM_DEFAULT'}


@pytest.mark.parametrize(('environment', 'variables'), [
    ({}, UDP), ({RANGE: 'SUBNET'}, UDP), (HUMBLE | {LOCALHOST_ONLY: '0'}, UDP),
    (ONLY | {'ROS_DISTRO': 'kilted'}, UDP),
    (LOCAL | {'ROS_DISTRO': 'kilted'}, DEFAULT | {NEW: PROFILE}),
    (LOCAL | JAZZY | {'RMW_IMPLEMENTATION': 'rmw_fastrtps_cpp'}, DEFAULT | {OLD: PROFILE}),
    (ONLY | HUMBLE, DEFAULT | {LOCALHOST_ONLY: '0', OLD: PROFILE}),
])
def test_udp_is_chosen_by_a_variable_or_by_a_profile(
    environment: Variables, variables: Variables
) -> None:
    assert without_shared_memory(environment) == variables
    assert without_shared_memory(LOCAL) in (DEFAULT | {name: PROFILE} for name in (NEW, OLD))


@pytest.mark.parametrize('chosen', [
    {NEW: 'mine.xml'}, {OLD: 'mine.xml'}, {'RMW_IMPLEMENTATION': 'rmw_cyclonedds_cpp'},
    {'FASTDDS_BUILTIN_TRANSPORTS': 'LARGE_DATA', RANGE: 'SUBNET'},
    {OLD: 'mine.xml'} | ONLY | HUMBLE,
])
def test_what_the_user_chose_stays_and_so_does_localhost(chosen: Variables) -> None:
    environment = LOCAL | chosen
    after = environment | without_shared_memory(environment)
    assert {name: after[name] for name in environment} == environment


@pytest.mark.parametrize(('environment', 'forced', 'by_default'), [
    ({}, LOCAL, LOCAL), (HUMBLE, ONLY, ONLY), ({RANGE: 'SUBNET'}, LOCAL, {}),
    (HUMBLE | LOCAL, ONLY, ONLY), (HUMBLE | {LOCALHOST_ONLY: '0'}, ONLY, {}),
])
def test_loopback_is_chosen_by_the_variable_that_a_distribution_reads(
    environment: Variables, forced: Variables, by_default: Variables
) -> None:
    assert on_loopback(environment) == forced
    assert loopback_by_default(environment) == by_default
