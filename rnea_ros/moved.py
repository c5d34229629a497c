# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Names that have moved: their old modules still have them, with a warning, until version 0.5."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any
import warnings


def moved(module: str, places: Mapping[str, str]) -> Callable[[str], Any]:
    """Return ``__getattr__`` of an old module; ``places``: new module by name."""

    def attribute(name: str) -> Any:
        if name not in places:
            raise AttributeError(f'module {module!r} has no attribute {name!r}')
        place = f'rnea_ros.feedforward{places[name]}'
        text = f'{module}.{name} has moved: import it from {place}'
        warnings.warn(text, DeprecationWarning, stacklevel=2)
        return getattr(import_module(place), name)

    return attribute
