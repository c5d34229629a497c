# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Fast DDS without its shared memory, where one process can hold up what others send."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import metadata

from ..resources import share_path

RANGE = 'ROS_AUTOMATIC_DISCOVERY_RANGE'
TRANSPORTS = 'FASTDDS_BUILTIN_TRANSPORTS'

PROFILE_VARIABLES = ('FASTDDS_DEFAULT_PROFILES_FILE', 'FASTRTPS_DEFAULT_PROFILES_FILE')
"""In which Fast DDS looks for its profiles: from 3 on (Kilted), and before, which 3 warns of."""

PROFILE = 'config/udp_on_loopback.xml'


def without_shared_memory(environment: Mapping[str, str]) -> dict[str, str]:
    """
    Return the variables that keep a process out of Fast DDS's shared memory.

    A process that is killed while it sends leaves the receiver's queue there locked, and whoever
    sends next waits for a second; while one joined, others were seen to hear nothing for a third
    of a second. With the discovery range LOCALHOST, ROS chooses the transports by itself, shared
    memory among them: then it is a profile that stays on loopback, unless the user has one.

    :param environment: of the process
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
        metadata.distribution('ros-fastrtps')  # wheels, which set no ROS_DISTRO; of 3: ros-fastdds
    except metadata.PackageNotFoundError:
        return False
    return True
