# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Fast DDS without its shared memory, where one process can hold up what others send."""

from __future__ import annotations

from collections.abc import Mapping

from .resources import share_path

RANGE = 'ROS_AUTOMATIC_DISCOVERY_RANGE'
TRANSPORTS = 'FASTDDS_BUILTIN_TRANSPORTS'

PROFILE_VARIABLES = ('FASTDDS_DEFAULT_PROFILES_FILE', 'FASTRTPS_DEFAULT_PROFILES_FILE')
"""In which Fast DDS looks for its profiles; the second is that of before Fast DDS 3."""

BEFORE_FAST_DDS_3 = ('humble', 'jazzy', None)
"""Values of ROS_DISTRO; it is not set where ROS comes from wheels."""

PROFILE = 'config/udp_on_loopback.xml'


def without_shared_memory(environment: Mapping[str, str]) -> dict[str, str]:
    """
    Return the variables that keep a process out of Fast DDS's shared memory.

    A process that is killed while it sends leaves the receiver's queue there locked, and whoever
    sends next waits for a second; one that joins can keep others from hearing for a third of a
    second. With the discovery range LOCALHOST, ROS chooses the transports by itself, shared memory
    among them: then it is a profile that stays on loopback, unless the user has one already.

    :param environment: of the process
    """
    fast_dds = environment.get('RMW_IMPLEMENTATION', 'rmw_fastrtps').startswith('rmw_fastrtps')
    own_profile = any(name in environment for name in PROFILE_VARIABLES)
    if environment.get(RANGE) != 'LOCALHOST' or own_profile or not fast_dds:
        return {TRANSPORTS: environment.get(TRANSPORTS, 'UDPv4')}
    # From Fast DDS 3 on the second makes it warn.
    count = 2 if environment.get('ROS_DISTRO') in BEFORE_FAST_DDS_3 else 1
    profile = str(share_path(PROFILE))
    return {RANGE: 'SYSTEM_DEFAULT', **dict.fromkeys(PROFILE_VARIABLES[:count], profile)}
