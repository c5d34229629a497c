# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Demo of a simulated arm under three control laws."""

from ...interrupts import prepare_interrupts

prepare_interrupts(__path__[0])
