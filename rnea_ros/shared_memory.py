# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Fast DDS without shared memory, in which a killed process can block the others."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import metadata

from .resources import share_path

RANGE = 'ROS_AUTOMATIC_DISCOVERY_RANGE'
TRANSPORTS = 'FASTDDS_BUILTIN_TRANSPORTS'

PROFILE_VARIABLES = ('FASTDDS_DEFAULT_PROFILES_FILE', 'FASTRTPS_DEFAULT_PROFILES_FILE')
"""Variables that name Fast DDS's profile: from version 3 on (Kilted), and before."""

PROFILE = 'config/udp_on_loopback.xml'


def without_shared_memory(environment: Mapping[str, str]) -> dict[str, str]:
    """
    Return the environment variables that turn Fast DDS's shared memory off for a process.

    A process that is killed while it sends leaves the receiver's queue locked: the next sender
    waits for 1 s. While a process joined, others received nothing for 0.3 s. With the discovery
    range LOCALHOST, ROS sets the transports itself, shared memory included; then a profile for the
    loopback interface replaces that range, unless the user has a profile.

    :param environment: environment variables of the process
    """
    fast_dds = environment.get('RMW_IMPLEMENTATION', 'rmw_fastrtps').startswith('rmw_fastrtps')
    own_profile = any(name in environment for name in PROFILE_VARIABLES)
    if environment.get(RANGE) != 'LOCALHOST' or own_profile or not fast_dds:
        return {TRANSPORTS: environment.get(TRANSPORTS, 'UDPv4')}
    variable = PROFILE_VARIABLES[_before_fast_dds_3(environment.get('ROS_DISTRO'))]
    return {RANGE: 'SYSTEM_DEFAULT', variable: str(share_path(PROFILE))}


def _before_fast_dds_3(distribution: str | None) -> bool:
    if distribution is not None:
        return distribution in ('humble', 'jazzy')
    try:
        metadata.distribution('ros-fastrtps')  # of PyPI, without ROS_DISTRO; 3: ros-fastdds
    except metadata.PackageNotFoundError:
        return False
    return True
