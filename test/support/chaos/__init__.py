# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Random traffic around a node, and the rules that the node keeps."""
