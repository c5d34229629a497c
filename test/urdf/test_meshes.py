# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Meshes: the same triangles from every format; where files are looked for."""

import os
from pathlib import Path

import numpy as np
import pytest

from rnea_ros import UrdfError
from rnea_ros.urdf import mesh_path, mesh_triangles, meshes
from support.cases import each
from support.models.shaped_arm import boxes, write_stl

CUBE = boxes(((0.0, 0.0, 0.0), (0.1, 0.2, 0.3)))

DAE = """<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema"><asset><unit meter="0.001"/>
</asset><library_geometries><geometry id="g"><mesh><source id="p"><float_array>{points}
</float_array></source><vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<polylist><input semantic="NORMAL" source="#n" offset="1"/>
<input semantic="VERTEX" source="#v" offset="0"/><vcount>{counts}</vcount><p>{corners}</p>
</polylist></mesh></geometry></library_geometries><library_visual_scenes><visual_scene><node>
<translate>0 0 -5</translate><rotate>0 0 1 90</rotate><node><scale>1000 1000 1000</scale>
<instance_geometry url="#g"/></node></node></visual_scene></library_visual_scenes></COLLADA>"""


SQUARE = """<COLLADA><library_geometries><geometry id="g"><mesh><source id="p"><float_array>
0 0 0 1 0 0 1 1 0 0 1 0</float_array></source><vertices id="v"><input semantic="POSITION"
source="#p"/></vertices><polylist><input semantic="VERTEX" source="#v" offset="0"/><vcount>4 4
</vcount><p>0 1 2 3 0 1 2 3</p></polylist></mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene><node>{}<instance_geometry url="#g"/>{}</node></visual_scene>
</library_visual_scenes></COLLADA>"""


def test_triangles_are_the_same_in_every_format(tmp_path: Path) -> None:
    corners = CUBE.reshape(-1, 3)
    write_stl(tmp_path / 'binary.stl', CUBE)
    lines = '\n'.join(f'vertex {x} {y} {z}' for x, y, z in corners)
    (tmp_path / 'text.stl').write_text(f'solid cube\n{lines}\nendsolid', encoding='utf-8')
    lines = '\n'.join(f'v {x} {y} {z}' for x, y, z in corners)
    faces = '\n'.join(f'f {3 * k + 1}/1 {3 * k + 2}/1 {3 * k + 3}/1' for k in range(len(CUBE)))
    (tmp_path / 'cube.obj').write_text(f'{lines}\n{faces}\n', encoding='utf-8')
    for name in ('binary.stl', 'text.stl', 'cube.obj'):
        np.testing.assert_allclose(mesh_triangles(tmp_path / name), CUBE, atol=1e-7)


def test_a_face_of_several_corners_is_a_fan_and_may_count_from_the_end(tmp_path: Path) -> None:
    path = tmp_path / 'square.obj'
    corners = 'v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n'
    for face in ('f 1/5/6 2 3 4', 'f -4 -3 -2 -1'):
        path.write_text(f'{corners}{face}\n', encoding='utf-8')
        assert mesh_triangles(path)[..., :2].tolist() == [
            [[0, 0], [1, 0], [1, 1]], [[0, 0], [1, 1], [0, 1]]
        ]


STEPS = '<translate>0 0 -5</translate><rotate>0 0 1 90</rotate>'


@each('pose', [
    DAE, DAE.replace(STEPS, '<matrix>0 -1 0 0 1 0 0 0 0 0 1 -5 0 0 0 1</matrix>'),
    DAE.replace('polylist', 'triangles').replace('<vcount>{counts}</vcount>', ''),
])
def test_poses_and_the_unit_of_a_collada_file_count(pose: str, tmp_path: Path) -> None:
    path = tmp_path / 'cube.dae'
    path.write_text(pose.format(
        points=' '.join(map(str, CUBE.ravel())), counts='3 ' * len(CUBE),
        corners=' '.join(f'{k} 0' for k in range(3 * len(CUBE))),
    ), encoding='utf-8')
    turned = np.stack((-CUBE[..., 1], CUBE[..., 0], CUBE[..., 2] - 0.005), axis=-1)
    np.testing.assert_allclose(mesh_triangles(path), turned, atol=1e-12)


def test_packages_are_found_above_the_urdf_and_in_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mesh = tmp_path / 'share/arm/meshes/a.stl'
    mesh.parent.mkdir(parents=True)
    mesh.write_bytes(b'')
    (tmp_path / 'share/arm/urdf').mkdir()
    for urdf in (tmp_path / 'share/arm/urdf/a.urdf', tmp_path / 'share/other/a.urdf'):
        assert mesh_path('package://arm/meshes/a.stl', urdf) == mesh
    assert mesh_path('../meshes/a.stl', tmp_path / 'share/arm/urdf/a.urdf') is not None
    assert mesh_path(f'file://{mesh}', None) == mesh
    elsewhere = tmp_path / 'elsewhere.urdf'
    assert mesh_path('package://arm/meshes/a.stl', elsewhere) is None
    monkeypatch.setenv('AMENT_PREFIX_PATH', str(tmp_path))
    assert mesh_path('package://arm/meshes/a.stl', elsewhere) == mesh


@each('content', [
    '', 'v 1 2 x', 'v 1 2\nv 3 4\nv 5 6\nf 1 1 1', 'v nan 0 0\nf 1 1 1', 'f 1 2 3',
    *(f'v 1 2 3\nf {index} 1 1' for index in ('9' * 30, '9' * 5000, '2', '-2')),
])
def test_a_broken_mesh_is_rejected_by_name(tmp_path: Path, content: str) -> None:
    path = tmp_path / 'broken.obj'
    path.write_text(content, encoding='utf-8')
    with pytest.raises(UrdfError, match=r'broken\.obj'):
        mesh_triangles(path)


@each(('name', 'content', 'reason'), [
    ('a.obj', 'v 0 0 0\n' + 'f 1 1 1 1 1 1\n' * 4, 'over 9 triangles'),
    ('a.obj', 'v 0 0 0\n' * 40 + 'f 1 2 3', 'over 9 triangles'),
    ('a.stl', 'vertex 0 0 0\n' * 40, 'over 9 triangles'),
    ('a.stl', bytes(80) + b'\12\0\0\0' + bytes(500), 'over 9 triangles'),
    ('a.dae', SQUARE.format('<node/>' * 40, ''), 'over 40 elements'),
    ('a.dae', SQUARE.format('<node>' * 10, '</node>' * 10), 'over 9 nested nodes'),
    ('a.dae', SQUARE.format('', '<instance_geometry url="#g"/>' * 5), 'over 9 triangles'),
    ('a.dae', SQUARE.format('', '').replace('<vcount>4 4', '<vcount>4 9999999999'), 'corners for'),
    ('a.dae', SQUARE.format('', '').replace('0 1 2 3', '0 ' * 90), 'over 9 triangles'),
])
def test_a_mesh_has_bounds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, content: str | bytes, reason: str
) -> None:
    for bound, value in (('TRIANGLES', 9), ('ELEMENTS', 40), ('DEPTH', 9)):
        monkeypatch.setattr(meshes, f'MAX_{bound}', value)
    data = content if isinstance(content, bytes) else content.encode()
    (tmp_path / name).write_bytes(data)
    with pytest.raises(UrdfError, match=f'{name}: has .*{reason}'):
        mesh_triangles(tmp_path / name)


@each('name', ['a' * 300, 'a\0.stl', 'pipe.stl', '.'])
def test_what_is_no_file_is_not_found(tmp_path: Path, name: str) -> None:
    if not (tmp_path / 'pipe.stl').exists():
        os.mkfifo(tmp_path / 'pipe.stl')
    for uri in (name, f'package://arm/{name}', f'file://{tmp_path}/{name}'):
        assert mesh_path(uri, tmp_path / 'arm.urdf') is None
    with pytest.raises(UrdfError, match='is a pipe or device: save'):
        mesh_triangles(tmp_path / 'pipe.stl')
