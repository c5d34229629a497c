# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Whether a robot can follow a trajectory, told before anything moves.

Without ROS. To read: :mod:`.limits`, :mod:`.compiling`, :mod:`.peaks`, :mod:`.efforts`,
:mod:`.time_scaling`, :mod:`.traps`, :mod:`.report`; :mod:`.check` puts them together.
"""
