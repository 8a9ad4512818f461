# SPDX-License-Identifier: MIT
"""Plush for Blender 3.4 and later: checks, bakes and drops the active mesh by the program `plush`.

All decisions are the program's. This file only hands it the mesh as a .glb and shows what comes back.
Blender is z up, Plush is y up: (x, y, z) there is (x, z, -y) here.
"""

import json
import os
import shutil
import struct
import subprocess
import tempfile
import textwrap

import bpy
import numpy as np

bl_info = {
    "name": "Plush",
    "description": "Turns meshes into soft bodies: check, bake, cage, drop",
    "version": (0, 1, 0),
    "blender": (3, 4, 0),
    "location": "3D View > Sidebar > Plush",
    "category": "Physics",
}

ARRAY_BUFFER, ELEMENT_BUFFER = 34962, 34963
FLOAT, UNSIGNED_INT = 5126, 5125


def to_plush(points):
    return np.stack([points[:, 0], points[:, 2], -points[:, 1]], axis=1)


def to_blender(points):
    return np.stack([points[:, 0], -points[:, 2], points[:, 1]], axis=1)


def world_points(obj):
    """World positions of the mesh's vertices [m], y up (num_vertices x 3). Modifiers do not count."""
    points = np.empty(3 * len(obj.data.vertices), dtype=np.float32)
    obj.data.vertices.foreach_get("co", points)
    matrix = np.array(obj.matrix_world)
    return to_plush(points.reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3])


def primitives(mesh):
    """(material index, vertices, triangles of positions in `vertices`) of each material in use."""
    mesh.calc_loop_triangles()
    count = len(mesh.loop_triangles)
    corners = np.empty(3 * count, dtype=np.int32)
    materials = np.empty(count, dtype=np.int32)
    mesh.loop_triangles.foreach_get("vertices", corners)
    mesh.loop_triangles.foreach_get("material_index", materials)
    corners = corners.reshape(-1, 3)
    for material in np.unique(materials):
        vertices, triangles = np.unique(corners[materials == material], return_inverse=True)
        yield int(material), vertices, triangles.reshape(-1, 3)


def pin_weights(obj, name):
    """Weights of vertex group `name` (num_vertices)."""
    group = obj.vertex_groups[name].index
    weights = np.zeros(len(obj.data.vertices), dtype=np.float32)
    for vertex in obj.data.vertices:
        for element in vertex.groups:
            if element.group == group:
                weights[vertex.index] = element.weight
    return weights


def glb_bytes(obj):
    """The mesh as a .glb: a primitive for each material, each `pin...` group as an attribute."""
    points = world_points(obj)
    pins = {g.name: pin_weights(obj, g.name) for g in obj.vertex_groups if g.name.startswith("pin")}
    views, accessors, blob = [], [], b""

    def add(array, component, kind, target):
        nonlocal blob
        data = array.tobytes()
        accessor = {"bufferView": len(views), "componentType": component, "type": kind, "count": len(array)}
        if kind == "VEC3":
            accessor["min"], accessor["max"] = array.min(axis=0).tolist(), array.max(axis=0).tolist()
        views.append({"buffer": 0, "byteOffset": len(blob), "byteLength": len(data), "target": target})
        accessors.append(accessor)
        blob += data
        return len(accessors) - 1

    parts, materials = [], []
    for slot, vertices, triangles in primitives(obj.data):
        material = obj.material_slots[slot].material if slot < len(obj.material_slots) else None
        colour = list(material.diffuse_color) if material else [0.8, 0.8, 0.8, 1.0]
        attributes = {"POSITION": add(points[vertices].astype("<f4"), FLOAT, "VEC3", ARRAY_BUFFER)}
        for name, weights in pins.items():
            attributes["_" + name] = add(weights[vertices].astype("<f4"), FLOAT, "SCALAR", ARRAY_BUFFER)
        indices = add(triangles.reshape(-1).astype("<u4"), UNSIGNED_INT, "SCALAR", ELEMENT_BUFFER)
        parts.append({"attributes": attributes, "indices": indices, "material": len(materials)})
        materials.append({"name": material.name if material else "default",
                          "pbrMetallicRoughness": {"baseColorFactor": colour}})
    document = {"asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}],
                "nodes": [{"mesh": 0, "name": obj.name}],
                "meshes": [{"name": obj.data.name, "primitives": parts}],
                "materials": materials, "accessors": accessors, "bufferViews": views,
                "buffers": [{"byteLength": len(blob)}]}
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    size = 12 + 8 + len(text) + 8 + len(blob)
    return (struct.pack("<4sII", b"glTF", 2, size) + struct.pack("<I4s", len(text), b"JSON") + text +
            struct.pack("<I4s", len(blob), b"BIN\0") + blob)


def read_pc2(path):
    """Positions (num_frames x num_points x 3)."""
    with open(path, "rb") as file:
        head = file.read(32)
        magic, _, points, _, _, frames = struct.unpack("<12siiffi", head)
        if magic != b"POINTCACHE2\0":
            raise ValueError(path + " is no point cache")
        return np.frombuffer(file.read(), dtype="<f4").reshape(frames, points, 3)


def write_pc2(path, frames):
    with open(path, "wb") as file:
        file.write(struct.pack("<12siiffi", b"POINTCACHE2\0", 1, frames.shape[1], 0.0, 1.0, frames.shape[0]))
        file.write(np.ascontiguousarray(frames, dtype="<f4").tobytes())


class PlushError(Exception):
    pass


class PlushFinding(bpy.types.PropertyGroup):
    code: bpy.props.StringProperty()
    message: bpy.props.StringProperty()
    remedy: bpy.props.StringProperty()
    severity: bpy.props.StringProperty()
    has_place: bpy.props.BoolProperty()
    place: bpy.props.FloatVectorProperty(size=3)


class PlushSettings(bpy.types.PropertyGroup):
    program: bpy.props.StringProperty(name="Program", default="plush", subtype="FILE_PATH",
                                      description="The program plush: a name in PATH, or a path")
    folder: bpy.props.StringProperty(name="Folder", default="", subtype="DIR_PATH",
                                     description="Where files are written; empty: beside the .blend file")
    tets: bpy.props.IntProperty(name="Tets", default=450, min=1, max=1000000,
                                description="Number of tets of the cage")
    young: bpy.props.FloatProperty(name="Young [Pa]", description="Young's modulus", default=1e5, min=1e-3, max=1e13)
    steps: bpy.props.IntProperty(name="Steps", default=200, min=1, max=1000000,
                                 description="Steps of the drop, of 0.01 s")
    summary: bpy.props.StringProperty()
    findings: bpy.props.CollectionProperty(type=PlushFinding)


def file_of(context, ending):
    settings = context.scene.plush
    folder = bpy.path.abspath(settings.folder or "//")
    if not folder:
        folder = os.path.join(tempfile.gettempdir(), "plush")
    os.makedirs(folder, exist_ok=True)
    return os.path.join(folder, bpy.path.clean_name(context.active_object.name) + ending)


def run_plush(context, *arguments):
    """Runs the program, shows its findings and returns its report. Raises PlushError."""
    settings = context.scene.plush
    program = shutil.which(bpy.path.abspath(settings.program)) or shutil.which(settings.program)
    if program is None:
        raise PlushError("There is no program '%s': name it in the panel" % settings.program)
    run = subprocess.run([program, *arguments, "--json"], capture_output=True, text=True, check=False)
    try:
        report = json.loads(run.stdout)
    except ValueError:
        raise PlushError(run.stderr.strip() or "plush ended with %d" % run.returncode) from None
    settings.findings.clear()
    for finding in report.get("findings", []):
        item = settings.findings.add()
        item.code, item.message = finding["code"], finding["message"]
        item.remedy, item.severity = finding.get("remedy", ""), finding["severity"]
        places = [p["position"] for p in finding.get("places", []) if "position" in p]
        if places:
            item.has_place = True
            item.place = to_blender(np.array(places[:1], dtype=float))[0]
    settings.summary = "%s: %d findings" % (arguments[0], len(settings.findings))
    if run.returncode != 0:
        raise PlushError(report.get("error") or run.stderr.strip().splitlines()[-1])
    return report


class PlushOperator(bpy.types.Operator):
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        return context.active_object is not None and context.active_object.type == "MESH"

    def execute(self, context):
        if context.active_object.mode == "EDIT":
            context.active_object.update_from_editmode()
        try:
            self.work(context)
        except (PlushError, OSError) as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        return {"FINISHED"}


def write_source(context):
    if len(context.active_object.data.polygons) == 0:
        raise PlushError("The mesh has no faces")
    path = file_of(context, ".glb")
    with open(path, "wb") as file:
        file.write(glb_bytes(context.active_object))
    return path


def baked_file(context):
    path = file_of(context, ".plush")
    if not os.path.exists(path):
        raise PlushError("Bake the mesh first")
    return path


class PLUSH_OT_check(PlushOperator):
    """Find the defects of the mesh"""
    bl_idname = "plush.check"
    bl_label = "Check"

    def work(self, context):
        run_plush(context, "check", write_source(context))


class PLUSH_OT_bake(PlushOperator):
    """Turn the mesh into a soft body (.plush)"""
    bl_idname = "plush.bake"
    bl_label = "Bake"

    def work(self, context):
        settings = context.scene.plush
        run_plush(context, "bake", write_source(context), "-o", file_of(context, ".plush"),
                  "--tets", str(settings.tets), "--young", repr(settings.young))


class PLUSH_OT_show_cage(PlushOperator):
    """Show the surface of the cage as a wire mesh"""
    bl_idname = "plush.show_cage"
    bl_label = "Show cage"

    def work(self, context):
        name = context.active_object.name + " cage"
        path = file_of(context, ".cage.obj")
        run_plush(context, "export", baked_file(context), "-o", path)
        points, faces = [], []
        with open(path, encoding="utf-8") as file:
            for words in map(str.split, file):
                if words[:1] == ["v"]:
                    points.append([float(word) for word in words[1:4]])
                elif words[:1] == ["f"]:
                    faces.append([int(word.split("/")[0]) - 1 for word in words[1:]])
        mesh = bpy.data.meshes.new(name)
        mesh.from_pydata(to_blender(np.array(points)).tolist(), [], faces)
        old = bpy.data.objects.get(name)
        if old is not None:
            bpy.data.objects.remove(old)
        cage = bpy.data.objects.new(name, mesh)
        cage.display_type = "WIRE"
        context.collection.objects.link(cage)


class PLUSH_OT_drop(PlushOperator):
    """Drop the baked body on the floor and play it on the mesh"""
    bl_idname = "plush.drop"
    bl_label = "Drop"

    def work(self, context):
        obj = context.active_object
        path = file_of(context, ".pc2")
        run_plush(context, "simulate", baked_file(context), "--steps", str(context.scene.plush.steps),
                  "--fps", str(context.scene.render.fps / context.scene.render.fps_base), "--export", path)
        frames = read_pc2(path)
        # Plush has a vertex of each material where two meet.
        rendered = np.concatenate([vertices for _, vertices, _ in primitives(obj.data)])
        if len(rendered) != frames.shape[1]:
            raise PlushError("The mesh has changed: bake it again")
        used, first = np.unique(rendered, return_index=True)
        points = np.repeat(world_points(obj)[None], len(frames), axis=0)
        points[:, used] = frames[:, first]
        inverse = np.array(obj.matrix_world.inverted())
        points = to_blender(points.reshape(-1, 3)) @ inverse[:3, :3].T + inverse[:3, 3]
        write_pc2(path, points.reshape(len(frames), -1, 3))
        for old in [m for m in obj.modifiers if m.name == "Plush drop"]:
            obj.modifiers.remove(old)
        cache = obj.modifiers.new("Plush drop", "MESH_CACHE")
        cache.cache_format = "PC2"
        cache.filepath = path
        cache.frame_start = context.scene.frame_start
        cache.forward_axis, cache.up_axis = "POS_Y", "POS_Z"
        cache.play_mode = "SCENE"
        context.scene.frame_end = max(context.scene.frame_end, context.scene.frame_start + len(frames) - 1)


class PLUSH_OT_add_pin(PlushOperator):
    """Add a vertex group whose name begins with `pin`: paint 1 where the game may hold the body"""
    bl_idname = "plush.add_pin"
    bl_label = "Add pin region"

    def work(self, context):
        groups = context.active_object.vertex_groups
        groups.active_index = groups.new(name="pin_region").index


class PLUSH_OT_show_finding(bpy.types.Operator):
    """Put the 3D cursor at the finding, and the view around it"""
    bl_idname = "plush.show_finding"
    bl_label = "Show"
    index: bpy.props.IntProperty()

    def execute(self, context):
        context.scene.cursor.location = context.scene.plush.findings[self.index].place
        if context.area is not None and context.area.type == "VIEW_3D":
            bpy.ops.view3d.view_center_cursor()
        return {"FINISHED"}


class PLUSH_PT_panel(bpy.types.Panel):
    bl_label = "Plush"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Plush"

    def draw(self, context):
        settings = context.scene.plush
        layout = self.layout
        for name in ("program", "folder", "tets", "young", "steps"):
            layout.prop(settings, name)
        for operator in (PLUSH_OT_add_pin, PLUSH_OT_check, PLUSH_OT_bake, PLUSH_OT_show_cage, PLUSH_OT_drop):
            layout.operator(operator.bl_idname)
        if settings.summary:
            layout.label(text=settings.summary)
        icons = {"error": "CANCEL", "warning": "ERROR", "info": "INFO"}
        for index, finding in enumerate(settings.findings):
            box = layout.box()
            row = box.row()
            row.label(text=finding.code, icon=icons.get(finding.severity, "INFO"))
            if finding.has_place:
                row.operator(PLUSH_OT_show_finding.bl_idname, text="", icon="CURSOR").index = index
            for line in textwrap.wrap(finding.message, 28):
                box.label(text=line)


CLASSES = (PlushFinding, PlushSettings, PLUSH_OT_add_pin, PLUSH_OT_check, PLUSH_OT_bake, PLUSH_OT_show_cage,
           PLUSH_OT_drop, PLUSH_OT_show_finding, PLUSH_PT_panel)


def register():
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    bpy.types.Scene.plush = bpy.props.PointerProperty(type=PlushSettings)


def unregister():
    del bpy.types.Scene.plush
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)


if __name__ == "__main__":
    register()
