# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Sphinx: these pages and the API reference as HTML, by ``make docs``."""

from __future__ import annotations

import os
from pathlib import Path
import sys
import xml.etree.ElementTree as ElementTree

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
os.environ['RNEA_ROS_PURE_PYTHON'] = '1'  # compiled functions have no signatures to show

project = 'rnea_ros'
author = 'The rnea_ros authors'
copyright = '2026 The rnea_ros authors'  # noqa: A001
version = release = ElementTree.parse(ROOT / 'package.xml').getroot().findtext('version') or ''

extensions = ['myst_parser', 'sphinx.ext.autodoc']
exclude_patterns = ['_build']
html_theme = 'furo'
html_static_path = ['_static']
html_css_files = ['wide.css']
html_title = f'rnea_ros {version}'

highlight_language = 'none'
myst_heading_anchors = 4

toc_object_entries = False
autodoc_member_order = 'bysource'
autodoc_typehints = 'description'
autodoc_typehints_description_target = 'documented'
autodoc_type_aliases = {'ArrayLike': 'ArrayLike', 'Array': 'Array'}
autodoc_default_options = {'members': True}
