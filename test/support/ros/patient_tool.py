# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Runs a tool that waits as long for its robot as tests wait.

``python -m support.ros.patient_tool name arguments``
"""

from importlib import import_module
import sys

from rnea_ros.live import LiveNode

PATIENCE = 60.0

if __name__ == '__main__':
    LiveNode.timeout = PATIENCE
    sys.exit(import_module(f'rnea_ros.tools.{sys.argv[1]}').main(sys.argv[2:]))
