# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Command-line tools run in the test's process, in a folder of their files."""

from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from importlib import import_module
from io import StringIO
import os
from pathlib import Path
import re
from subprocess import CompletedProcess
import sys
import traceback
import warnings

import pytest

from support.models.robots import ROOT

Main = Callable[[list[str]], int]
Printed = pytest.CaptureFixture[str]

SETUP = (ROOT / 'setup.py').read_text(encoding='utf-8')
EXECUTABLES: dict[str, str] = dict(re.findall(r"'(\w+)': '(rnea_ros(?:\.\w+)+)'", SETUP))

CRASHED = -1  # instead of an exit code, after an exception; its traceback is on standard error


def finished(main: Main, *arguments: str | Path) -> CompletedProcess[str]:
    """Run a tool; return its exit code and what it printed, warnings and tracebacks too."""
    code: object
    output, complaints = StringIO(), StringIO()
    with redirect_stdout(output), redirect_stderr(complaints), warnings.catch_warnings():
        warnings.resetwarnings()
        warnings.simplefilter('default')
        warnings.simplefilter('ignore', DeprecationWarning)
        warnings.showwarning = lambda message, category, file, line, *_: print(
            f'{file}:{line}: {category.__name__}: {message}', file=sys.stderr
        )
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as ended:
            code = ended.code
        except Exception:
            code = CRASHED
            traceback.print_exc()
    assert isinstance(code, int)
    return CompletedProcess(arguments, code, output.getvalue(), complaints.getvalue())


def run(line: str, folder: Path) -> CompletedProcess[str]:
    """Run a command line in a folder; words are separated by single spaces."""
    name, *words = line.split(' ')
    main = import_module(EXECUTABLES[name]).main
    before, variables = Path.cwd(), dict(os.environ)
    os.chdir(folder)
    try:
        return finished(main, *words)
    finally:
        os.chdir(before)
        os.environ.clear()
        os.environ.update(variables)


def rejection(main: Main, *arguments: str | Path) -> str:
    """Return the one line, with the tool's name, by which it rejected arguments; exit code 2."""
    ended = finished(main, *arguments)
    assert ended.returncode == 2, ended.stdout + ended.stderr
    (line,) = ended.stderr.splitlines()
    assert line.startswith(f'{main.__module__.rpartition(".")[2]}: ')
    return line
