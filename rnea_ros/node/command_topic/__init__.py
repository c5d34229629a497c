# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The command topic: its effort controller, other publishers, and permission to send."""

from .controller_joints import ControllerJoints, difference
from .monitor import CommandTopicMonitor
from .other_publishers import OtherPublishers
from .permission import CommandPermission

__all__ = [
    'CommandPermission', 'CommandTopicMonitor', 'ControllerJoints', 'OtherPublishers',
    'difference',
]
