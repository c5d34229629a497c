# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""
Write the dynamics of a robot as C99: header, source, test program and CMakeLists.txt.

The code needs only the C library's sin, cos, tanh and fabs. It has no loops, no memory and no
branches. All constants of the model are numbers in it; the options name what becomes an argument.

Exit code: 0 written; 2 bad arguments or files.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
import sys

from ..c_export import CExport, export_c
from ..command_line import OneLineParser, tool
from ..errors import InputError
from .arguments import add_gravity, load_model, load_settings


def _options(args: list[str] | None) -> argparse.Namespace:
    """Return the checked options."""
    parser = OneLineParser(
        prog='export', description=__doc__,
        epilog='example: export --urdf arm.urdf --prefix arm --out arm_c --frame tool0'
    )
    add = parser.add_argument
    add('--urdf', type=Path, required=True, help='URDF of the model')
    add_gravity(parser)
    add('--prefix', help="of all names in C; the robot's name by default")
    add('--out', type=Path, required=True, metavar='DIRECTORY', help='directory to write to')
    add('--float', action='store_true', help='float instead of double')
    for option, text in (
        ('--frame', 'links whose pose and Jacobian are written'),
        ('--payload', 'links with a payload as an argument'),
        ('--wrench', 'links with an external wrench as an argument'),
    ):
        add(option, nargs='+', default=[], metavar='LINK', help=text)
    add('--moving-base', action='store_true', help="gravity and the base's motion as arguments")
    add('--params-file', type=Path,
        help='parameter file of the node, such as of identify: friction, offsets, rotors, springs')
    return parser.parse_args(args)


@tool
def main(args: list[str] | None = None) -> int:
    """Write the files; return the exit code."""
    options = _options(args)
    model = load_model('export', options.urdf, options.gravity)
    for link in (*options.frame, *options.payload, *options.wrench):
        model.forward_kinematics(model.neutral_position, link)  # raises UnknownNameError
    export = CExport(
        model, tuple(options.frame), tuple(options.payload), tuple(options.wrench),
        options.moving_base
    )
    if options.params_file is not None:
        drives = load_settings(options.params_file, model)
        if (drives.gravity_scale != 1.0).any():
            raise InputError('gravity_factor', 'C code has none: identify the masses')
        has_spring = drives.joint_spring.stiffness.any()
        export = replace(
            export, friction=drives.motor_friction, armature=drives.rotor_inertia,
            spring=drives.joint_spring if has_spring else None
        )
    paths = export_c(export, options.out, prefix=options.prefix, single_precision=options.float)
    print(*paths, sep='\n')
    return 0


if __name__ == '__main__':
    sys.exit(main())
