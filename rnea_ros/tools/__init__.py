# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Tools for the command line, one module each, registered in ``EXECUTABLES`` of setup.py."""

from ..interrupts import prepare_interrupts

prepare_interrupts(__path__[0])
