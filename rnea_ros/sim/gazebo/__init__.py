# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Robots for Gazebo: URDF with ros2_control, controller parameters."""
