# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
The process that expands a xacro file: a program, which may take any time and any memory.

It runs as a script: arguments are the file, the time limit, s, and ``NAME:=VALUE``. It prints the
URDF, or the reason of its exit code 1. Nothing of the package is imported: also
:func:`package_folders`, which meshes need too, stands here.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
import os
from pathlib import Path
import sys

MEMORY, MAX_OUTPUT = 2**30, 2**24  # bytes


def package_folders(package: str, folder: Path) -> Iterator[Path]:
    """Return where a package may be: in the ROS environment, or among the folders above a file."""
    for prefix in filter(None, os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep)):
        yield Path(prefix, 'share', package)
    for parent in (folder, *folder.parents):
        yield parent / package
        if parent.name == package:
            yield parent


def _expanded(path: Path, arguments: dict[str, str]) -> str:
    import xacro
    from xacro import substitution_args

    def find(package: str) -> str:
        folders = filter(os.path.isdir, package_folders(package, path.resolve().parent))
        # Any folder may have the name of a package.
        best = min(folders, key=lambda f: not (f / 'package.xml').is_file(), default=None)
        if best is None:
            sys.exit(  # xacro would print another exception three times
                f'package {package} is neither in the ROS environment (source its setup.bash) nor '
                'a folder above the file'
            )
        return str(best)

    substitution_args._eval_find = substitution_args._eval_dict['find'] = find
    text = str(xacro.process_file(str(path), mappings=arguments).toxml())
    if len(text.encode('utf-8', 'replace')) > MAX_OUTPUT:
        sys.exit(f'its URDF has over {MAX_OUTPUT} bytes')
    return text


def _main(path: str, seconds: str, *arguments: str) -> int:
    import resource
    import signal

    signal.signal(signal.SIGINT, signal.SIG_DFL)
    # The CPU limit also ends a process whose parent died.
    for limit, value in ((resource.RLIMIT_CPU, 2 * int(seconds)), (resource.RLIMIT_AS, MEMORY)):
        with suppress(OSError, ValueError):  # the hard limit is lower, or unsupported
            resource.setrlimit(limit, (value, value))
    output, sys.stdout = sys.stdout, sys.stderr  # prints of the file go to stderr
    try:
        pairs = (argument.partition(':=') for argument in arguments)
        text, code = _expanded(Path(path), {name: value for name, _, value in pairs}), 0
    except (Exception, SystemExit) as error:  # an expression in the file can raise any error
        cause = getattr(error, 'exc', None) or error  # of an error of xacro
        repeated = isinstance(cause, OSError) or error.args == (f'{type(cause)}: {cause}',)
        if repeated and cause is not error:
            error.args = ()  # xacro adds the text of the cause
        text, code = f'{error}' + f' {type(cause).__name__}' * (not str(cause)), 1
    output.buffer.write(text.encode('utf-8', 'replace')[:MAX_OUTPUT])
    output.flush()
    return code


if __name__ == '__main__':
    folder = os.path.dirname(os.path.abspath(__file__))  # its modules would hide others
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != folder]
    sys.exit(_main(*sys.argv[1:]))
