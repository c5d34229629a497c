# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Force-torque sensors and the IMU on the base."""
