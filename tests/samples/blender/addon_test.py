# SPDX-License-Identifier: MIT
"""Runs the operators of the Blender add-on.

usage: blender -b --factory-startup --python-exit-code 3 -P addon_test.py -- ADDON.py PLUSH WORK_DIR
"""

import json
import os
import shutil
import sys

import bpy
import numpy as np

addon_path, plush, work = sys.argv[sys.argv.index("--") + 1:]
shutil.rmtree(work, ignore_errors=True)
sys.path.insert(0, os.path.dirname(addon_path))
import plush_addon as addon  # noqa: E402  (its folder has just been added)

addon.register()
scene = bpy.context.scene
scene.plush.program, scene.plush.folder = plush, work
scene.plush.tets, scene.plush.steps = 120, 60

# Two materials and a pin on a ball that is moved, turned and scaled.
bpy.ops.object.select_all(action="SELECT")
bpy.ops.object.delete()
bpy.ops.mesh.primitive_uv_sphere_add(segments=16, ring_count=12, radius=0.5, location=(0.3, -0.2, 2.0),
                                     rotation=(0.4, 0.2, 1.0))
ball = bpy.context.active_object
ball.name = "Ball"
ball.scale = (1.0, 0.8, 1.2)
for name in ("skin", "nose"):
    ball.data.materials.append(bpy.data.materials.new(name))
for polygon in ball.data.polygons:
    polygon.material_index = 1 if polygon.center.z > 0.2 else 0
bpy.ops.plush.add_pin()
top = [v.index for v in ball.data.vertices if v.co.z > 0.4]
ball.vertex_groups.active.add(top, 1.0, "REPLACE")
bpy.context.view_layer.update()

# Check: a closed ball has no error; a hole is found at its place.
assert bpy.ops.plush.check() == {"FINISHED"}
assert not [f.code for f in scene.plush.findings if f.severity == "error"]
assert "MESH_OPEN_BOUNDARY" not in [f.code for f in scene.plush.findings]
bpy.ops.mesh.primitive_cube_add(size=1.0, location=(0.0, 0.0, 5.0))
cube = bpy.context.active_object
cube.data.polygons[0].select = True
whole = cube.data.copy()
kept = [list(p.vertices) for p in cube.data.polygons if p.normal.z < 0.5]
cube.data = bpy.data.meshes.new("open")
cube.data.from_pydata([tuple(v.co) for v in whole.vertices], [], kept)
assert bpy.ops.plush.check() == {"FINISHED"}
holes = [i for i, f in enumerate(scene.plush.findings) if f.code == "MESH_OPEN_BOUNDARY"]
assert len(holes) == 1 and scene.plush.findings[holes[0]].has_place
assert bpy.ops.plush.show_finding(index=holes[0]) == {"FINISHED"}
place = np.array(scene.cursor.location)
assert abs(place[2] - 5.5) < 1e-5 and max(abs(place[:2])) <= 0.5 + 1e-5, place
bpy.data.objects.remove(cube)
bpy.context.view_layer.objects.active = ball

# An operator that needs the bake says so.
try:
    bpy.ops.plush.drop()
    raise AssertionError("a drop without a bake")
except RuntimeError as error:
    assert "Bake the mesh first" in str(error), error

# Bake: the pin is a region, the materials are those of the slots.
assert bpy.ops.plush.bake() == {"FINISHED"}
with open(os.path.join(work, "Ball.glb"), "rb") as file:
    glb = file.read()
document = json.loads(glb[20:20 + int.from_bytes(glb[12:16], "little")])
assert all("_pin_region" in part["attributes"] for part in document["meshes"][0]["primitives"])
info = addon.run_plush(bpy.context, "info", os.path.join(work, "Ball.plush"))
assert [r["name"] for r in info["simulation"]["regions"]] == ["pin_region"]
assert sorted(m["name"] for m in info["simulation"]["materials"]) == ["nose", "skin"]

# The cage lies around the ball.
assert bpy.ops.plush.show_cage() == {"FINISHED"}
cage = bpy.data.objects["Ball cage"]
points = addon.to_blender(addon.world_points(ball))
corners = np.array([v.co for v in cage.data.vertices])
assert (corners.min(axis=0) < points.min(axis=0)).all() and (corners.max(axis=0) > points.max(axis=0)).all()

# Drop: the modifier shows the first frame as the rest shape, moved; later frames fall and meet the floor.
# Blender orders the faces of its sphere differently in each run, so falls differ a little.
bpy.context.view_layer.objects.active = ball
assert bpy.ops.plush.drop() == {"FINISHED"}


def shown(frame):
    scene.frame_set(frame)
    evaluated = ball.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return addon.to_blender(addon.world_points(evaluated))


assert [m.type for m in ball.modifiers] == ["MESH_CACHE"]
first = shown(1)
offset = first - points
assert np.abs(offset - offset[0]).max() < 1e-4, np.abs(offset - offset[0]).max()
# As simulated: y and x stay in the free fall of the first frames.
assert np.abs(shown(3) - first)[:, :2].max() < 1e-3
assert (shown(3) - first)[:, 2].max() < 0.0
num_frames = len(addon.read_pc2(os.path.join(work, "Ball.pc2")))
lowest = [shown(scene.frame_start + i)[:, 2].min() for i in range(num_frames)]
assert -0.01 < min(lowest) < 0.03 and lowest[0] > 0.2, lowest

# A missing program is named.
scene.plush.program = "/no/such/plush"
try:
    bpy.ops.plush.check()
    raise AssertionError("a check without a program")
except RuntimeError as error:
    assert "There is no program" in str(error), error
addon.unregister()
print("the operators of the add-on work")
