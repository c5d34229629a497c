# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Environment of ROS: Fast DDS without shared memory, and no network but loopback."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import metadata

from .resources import share_path

RANGE = 'ROS_AUTOMATIC_DISCOVERY_RANGE'
LOCALHOST_ONLY = 'ROS_LOCALHOST_ONLY'
TRANSPORTS = 'FASTDDS_BUILTIN_TRANSPORTS'

PROFILE_VARIABLES = ('FASTDDS_DEFAULT_PROFILES_FILE', 'FASTRTPS_DEFAULT_PROFILES_FILE')
"""Variables that name Fast DDS's profile: from version 3 on (Kilted), and before."""

PROFILE = 'config/udp_on_loopback.xml'

LOOPBACK_NOTICE = (
    'no network: only this machine sees the simulation; '
    f'otherwise set {RANGE}=SUBNET (Humble: {LOCALHOST_ONLY}=0)'
)
"""Log line of a simulation that :func:`loopback_by_default` keeps off the network."""


def without_shared_memory(environment: Mapping[str, str]) -> dict[str, str]:
    """
    Return the environment variables that turn Fast DDS's shared memory off for a process.

    A process that is killed while it sends leaves the receiver's queue locked: the next sender
    waits for 1 s. While a process joined, others received nothing for 0.3 s. With the discovery
    range LOCALHOST, or ROS_LOCALHOST_ONLY=1 before Kilted, ROS sets the transports itself, shared
    memory included; then a profile for the loopback interface replaces these variables, unless the
    user has a profile.
    """
    old = _before_fast_dds_3(environment.get('ROS_DISTRO'))
    localhost_only = old and environment.get(LOCALHOST_ONLY) == '1'
    localhost = localhost_only or environment.get(RANGE) == 'LOCALHOST'
    fast_dds = environment.get('RMW_IMPLEMENTATION', 'rmw_fastrtps').startswith('rmw_fastrtps')
    own_profile = any(name in environment for name in PROFILE_VARIABLES)
    if not localhost or own_profile or not fast_dds:
        return {TRANSPORTS: environment.get(TRANSPORTS, 'UDPv4')}
    profile = {RANGE: 'SYSTEM_DEFAULT', PROFILE_VARIABLES[old]: str(share_path(PROFILE))}
    # Jazzy warns of the old variable, whatever its value.
    return profile | ({LOCALHOST_ONLY: '0'} if localhost_only else {})


def on_loopback(environment: Mapping[str, str]) -> dict[str, str]:
    """
    Return the environment variable that keeps a process off the network.

    Humble ignores the range; later distributions warn of ROS_LOCALHOST_ONLY, or ignore it.
    """
    humble = environment.get('ROS_DISTRO') == 'humble'
    return {LOCALHOST_ONLY: '1'} if humble else {RANGE: 'LOCALHOST'}


def loopback_by_default(environment: Mapping[str, str]) -> dict[str, str]:
    """
    Return the variable that keeps a simulation off the network; nothing if the user has set it.

    On one machine, processes on loopback and those on the network discover each other.
    """
    variables = on_loopback(environment)
    return {name: value for name, value in variables.items() if name not in environment}


def _before_fast_dds_3(distribution: str | None) -> bool:
    if distribution is not None:
        return distribution in ('humble', 'jazzy')
    try:
        metadata.distribution('ros-fastrtps')  # of PyPI, without ROS_DISTRO; 3: ros-fastdds
    except metadata.PackageNotFoundError:
        return False
    return True
