# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The dynamics of one robot as C99 code without dependencies."""

from .c_files import export_c
from .functions import CExport

__all__ = ['CExport', 'export_c']
