# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Command-line tools run in the test's process; test_executables.py gives each its own."""

from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from subprocess import CompletedProcess

import pytest

Main = Callable[[list[str]], int]
Printed = pytest.CaptureFixture[str]


def finished(main: Main, *arguments: str | Path) -> CompletedProcess[str]:
    """Run a tool; return its exit code and what it printed."""
    code: object
    output, complaints = StringIO(), StringIO()
    with redirect_stdout(output), redirect_stderr(complaints):
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as ended:
            code = ended.code
    assert isinstance(code, int)
    return CompletedProcess(arguments, code, output.getvalue(), complaints.getvalue())


def rejection(main: Main, *arguments: str | Path) -> str:
    """Return the one line, with the tool's name, by which it rejected arguments; exit code 2."""
    ended = finished(main, *arguments)
    assert ended.returncode == 2, ended.stdout + ended.stderr
    (line,) = ended.stderr.splitlines()
    assert line.startswith(f'{main.__module__.rpartition(".")[2]}: ')
    return line
