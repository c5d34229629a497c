# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""The report of an identification: figures, text, picture."""

from .figures import Figures, figures
from .picture import picture
from .text import text

__all__ = ['Figures', 'figures', 'picture', 'text']
