# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Build and install the package; versions here and in package.xml are kept the same by a test."""

from glob import glob
from pathlib import Path
import sys
import xml.etree.ElementTree as ElementTree

from setuptools import find_packages, setup

PACKAGE = 'rnea_ros'

HERE = Path(__file__).resolve().parent
DESCRIPTION = ElementTree.parse(HERE / 'package.xml')
"""Its addresses are the package's."""

EXECUTABLES = {
    'feedforward_node': 'rnea_ros.node.feedforward_node',
    'simulated_robot': 'rnea_ros.sim.simulated_robot',
    'effort_watchdog': 'rnea_ros.watchdog.effort_watchdog',
    'trajectory_effort': 'rnea_ros.trajectory_effort.trajectory_effort_node',
    'teleoperation': 'rnea_ros.teleoperation.teleoperation_node',
    'demo': 'rnea_ros.sim.demo.demo',
    'play_joint_states': 'rnea_ros.tools.play_joint_states',
    'preflight': 'rnea_ros.tools.preflight',
    'check_trajectory': 'rnea_ros.tools.check_trajectory',
    'excite': 'rnea_ros.tools.excite',
    'replay': 'rnea_ros.tools.replay',
    'teach': 'rnea_ros.tools.teach',
    'panel': 'rnea_ros.tools.panel',
    'identify': 'rnea_ros.tools.identify',
    'export': 'rnea_ros.tools.export',
    'activate_controller': 'rnea_ros.tools.activate_controller',
}


def ros_wheels(rclpy: str, common: str, core: str) -> list[str]:
    """Return ROS 2 of one distribution as wheels; its three version numbers move together."""
    interfaces = ('sensor', 'trajectory', 'geometry', 'std', 'diagnostic')
    return [
        f'ros-rclpy[fastrtps]=={rclpy}',
        *(f'ros-{name}-msgs=={common}' for name in interfaces),
        f'ros-std-srvs=={common}',
        *(f'ros-{name}-msgs=={core}' for name in ('lifecycle', 'rosgraph')),
        f'ros-rcl-interfaces=={core}',
    ]


EXTRAS = {
    'jazzy': ros_wheels('7.1.6', '5.3.6', '2.0.3'),
    'kilted': ros_wheels('9.1.2', '5.5.1', '2.3.0'),
    'sim': ['mujoco>=3.3.6', 'matplotlib>=3.5.1'],
    'streams': ['ruckig>=0.19.4'],
    'bags': ['rosbags>=0.11.9', 'matplotlib>=3.5.1', 'PyYAML', 'scipy>=1.8.0'],
    'parquet': ['pyarrow>=14.0.1'],
    'panel': ['viser', 'websockets', 'trimesh'],
    'test': [
        'playwright',
        'pytest',
        'pytest-timeout',
        'pytest-xdist',
        'hypothesis',
        'pyarrow',
        'distributed',
        'pin',
        'example-robot-data',
        'modern-robotics',
    ],
    'lint': ['ruff', 'mypy', 'import-linter'],
    'docs': ['sphinx', 'myst-parser', 'furo', 'sphinx-copybutton'],
}

data_files = [
    ('share/ament_index/resource_index/packages', [f'resource/{PACKAGE}']),
    (f'share/{PACKAGE}', ['package.xml']),
    (f'share/{PACKAGE}/launch', glob('launch/*.launch.py')),
    (f'share/{PACKAGE}/docs', ['docs/control.md', 'docs/troubleshooting.md']),
    (f'share/{PACKAGE}/config', glob('config/*.*')),
    (f'share/{PACKAGE}/config/presets', glob('config/presets/*.yaml')),
    (f'share/{PACKAGE}/examples', glob('examples/*.*')),
    (f'share/{PACKAGE}/examples/feedforward_controller',
     glob('examples/feedforward_controller/*.*')),
    (f'share/{PACKAGE}/examples/own_motors', glob('examples/own_motors/*.*')),
    (f'share/{PACKAGE}/layouts', glob('layouts/*')),
    (f'share/{PACKAGE}/urdf', glob('urdf/*.urdf') + glob('urdf/*.xacro')),
]

if {'bdist_wheel', 'editable_wheel'} & set(sys.argv):
    # colcon puts console scripts where `ros2 run` and launch look for them, pip does not.
    libexec = Path('build', 'libexec')
    libexec.mkdir(parents=True, exist_ok=True)
    for name, module in EXECUTABLES.items():
        script = libexec / name
        script.write_text(
            f'#!/usr/bin/env python3\nimport sys\nfrom {module} import main\nsys.exit(main())\n'
        )
        script.chmod(0o755)
    data_files.append((f'lib/{PACKAGE}', [str(libexec / name) for name in EXECUTABLES]))

setup(
    name=PACKAGE,
    version='0.3.0',
    packages=find_packages(exclude=['test', 'test.*', 'benchmark', 'benchmark.*']),
    package_data={PACKAGE: ['py.typed']},
    data_files=data_files,
    python_requires='>=3.10',
    install_requires=[
        'setuptools',
        'numpy>=1.21.5',
        'numba>=0.55.1',
        'urdf-parser-py>=0.0.4',
        'PyYAML',
        'xacro',
    ],
    extras_require=EXTRAS,
    zip_safe=False,
    author='The rnea_ros authors',
    maintainer='The rnea_ros authors',
    maintainer_email=next(DESCRIPTION.iter('maintainer')).get('email'),
    project_urls={url.get('type'): url.text for url in DESCRIPTION.findall('url')},
    description='Real-time torque feedforward for ROS 2 by the recursive Newton-Euler algorithm',
    long_description=(HERE / 'README.md').read_text(encoding='utf-8'),
    long_description_content_type='text/markdown',
    license='Apache-2.0',
    keywords=['robotics', 'manipulator', 'inverse dynamics', 'RNEA', 'ROS 2', 'ros2_control'],
    classifiers=[
        'Development Status :: 4 - Beta',
        'Intended Audience :: Science/Research',
        'Operating System :: POSIX :: Linux',
        *(f'Programming Language :: Python :: 3.{minor}' for minor in range(10, 15)),
        'Topic :: Scientific/Engineering :: Physics',
        'Typing :: Typed',
    ],
    entry_points={
        'console_scripts': [f'{name} = {module}:main' for name, module in EXECUTABLES.items()]
    },
)
