# Copyright 2026 The rnea_ros authors
# SPDX-License-Identifier: Apache-2.0

"""Meshes: the same triangles from every format; where files are looked for."""

from pathlib import Path

import numpy as np
import pytest

from rnea_ros import UrdfError
from rnea_ros.urdf import mesh_path, mesh_triangles
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


@each('content', ['', 'v 1 2 x', 'v nan 0 0\nf 1 1 1', 'f 1 2 3'])
def test_a_broken_mesh_is_rejected_by_name(tmp_path: Path, content: str) -> None:
    path = tmp_path / 'broken.obj'
    path.write_text(content, encoding='utf-8')
    with pytest.raises(UrdfError, match=r'broken\.obj'):
        mesh_triangles(path)
