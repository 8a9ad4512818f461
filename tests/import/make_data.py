#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes tests/data/import: small files of what importers get wrong, and want.json, what plush check says of each.

usage: make_data.py NPM     (folder with the packages of package.json)
Most are a box of 1 x 2 x 3 m with a face normal at each corner; the ball is an octahedron divided into 512 triangles.
"""
import base64
import json
import math
import pathlib
import struct
import subprocess
import sys
import zipfile

from gltf_writer import Gltf

OUT = pathlib.Path(__file__).resolve().parent.parent / "data/import"
WANTS = {}
BOX = {"triangles": 12, "box": [[-0.5, -1, -1.5], [0.5, 1, 1.5]], "area": 22}


def emit(name, data, want, uses=()):
    (OUT / name).write_bytes(data if isinstance(data, bytes) else data.encode())
    WANTS[name] = {**want, **({"uses": list(uses)} if uses else {})}


def box():
    """24 points, their normals, 12 triangles."""
    points, normals, triangles = [], [], []
    for axis in range(3):
        for side in (-1, 1):
            first = len(points)
            for u, v in ((-1, -1), (1, -1), (1, 1), (-1, 1)):
                p = [0, 0, 0]
                p[axis], p[(axis + 1) % 3], p[(axis + 2) % 3] = side, u, v
                points.append([p[k] * (k + 1) / 2 for k in range(3)])
                normals.append([side * (k == axis) for k in range(3)])
            for a, b, c in ((0, 1, 2), (0, 2, 3)):
                triangles.append([first + a, first + (b if side > 0 else c), first + (c if side > 0 else b)])
    return points, normals, triangles


POINTS, NORMALS, TRIANGLES = box()


def box_of(gltf, positions=None):
    """The attributes and indices of the box."""
    return {"attributes": {"POSITION": gltf.accessor(POINTS) if positions is None else positions,
                           "NORMAL": gltf.accessor(NORMALS)},
            "indices": gltf.accessor([i for t in TRIANGLES for i in t], 5123)}


def plain():
    gltf = Gltf()
    return gltf.scene(box_of(gltf))


def quantised():
    for kind, name, top in ((5120, "byte", 127), (5121, "ubyte", 255), (5122, "short", 32767), (5123, "ushort", 65535)):
        for normalized in (False, True):
            gltf = Gltf()
            signed = name[0] != "u"
            rows = [[round(p[k] / (k + 1) * 2 * top) if signed else round((p[k] / (k + 1) + 0.5) * top) for k in range(3)]
                    for p in POINTS]
            unit = 1 if normalized else top  # what the largest integer means
            size = [(k + 1) / unit / (2 if signed else 1) for k in range(3)]
            primitive = box_of(gltf, gltf.accessor(rows, kind, normalized))
            primitive["attributes"]["NORMAL"] = gltf.accessor([[127 * x for x in n] for n in NORMALS], 5120, True)
            gltf.scene(primitive, scale=size, translation=[0, 0, 0] if signed else [-0.5, -1, -1.5])
            gltf.json.update(extensionsUsed=["KHR_mesh_quantization"], extensionsRequired=["KHR_mesh_quantization"])
            emit(f"quantized_{name}{'_norm' if normalized else ''}.glb", gltf.glb(), BOX)


def compressed(npm):
    """By the tools that users have."""
    at, triangles = {}, []
    for face in range(8):
        s = [1 - 2 * (face >> k & 1) for k in range(3)]
        grid = lambda i, j: tuple(s[k] * x for k, x in enumerate((i, j, 8 - i - j)))
        for i in range(8):
            for j in range(8 - i):
                triangles.append([grid(i, j), grid(i + 1, j), grid(i, j + 1)][::s[0] * s[1] * s[2]])
                if i + j < 7:
                    triangles.append([grid(i + 1, j), grid(i + 1, j + 1), grid(i, j + 1)][::s[0] * s[1] * s[2]])
    points = [at.setdefault(p, len(at)) for t in triangles for p in t]
    gltf = Gltf()
    rows = [[x / math.hypot(*p) for x in p] for p in at]
    gltf.scene({"attributes": {"POSITION": gltf.accessor(rows), "NORMAL": gltf.accessor(rows)},
                "indices": gltf.accessor(points, 5123)}, scale=[0.5, 0.5, 0.5])
    (OUT / "ball.glb").write_bytes(gltf.glb())
    corners = [[x / 2 for x in rows[i]] for i in points]
    cross = lambda a, b: [a[k - 2] * b[k - 1] - a[k - 1] * b[k - 2] for k in range(3)]
    area = sum(math.hypot(*cross([y - x for x, y in zip(a, b)], [y - x for x, y in zip(a, c)])) / 2
               for a, b, c in zip(*[iter(corners)] * 3))
    want = {"triangles": 512, "box": [[-0.5] * 3, [0.5] * 3], "area": area, "within": 0.001}
    for name, tool in (("meshopt.glb", ["gltfpack", "-c"]), ("meshopt_noq.glb", ["gltfpack", "-c", "-noq"]),
                       ("meshopt_fallback.gltf", ["gltfpack", "-cf"]), ("draco.glb", ["gltf-transform", "draco"])):
        files = [OUT / "ball.glb", OUT / name]
        arguments = files if tool[0] != "gltfpack" else ["-i", files[0], "-o", files[1]]
        subprocess.run(["node", pathlib.Path(npm) / "node_modules/.bin" / tool[0], *tool[1:], *arguments], check=True)
        uses = sorted(p.name for p in OUT.glob(name.split(".")[0] + "*.bin"))
        WANTS[name] = {**want, **({"uses": uses} if uses else {})}
    (OUT / "ball.glb").unlink()


def features():
    gltf = plain()
    gltf.json["nodes"][0]["extensions"] = {"EXT_mesh_gpu_instancing": {"attributes": {
        "TRANSLATION": gltf.accessor([[2 * i, 0, 0] for i in range(4)])}}}
    row = {"triangles": 48, "box": [[-0.5, -1, -1.5], [6.5, 1, 1.5]], "area": 88}
    gltf.json["extensionsUsed"] = ["EXT_mesh_gpu_instancing"]
    emit("instancing_optional.glb", gltf.glb(), row)
    gltf.json["extensionsRequired"] = ["EXT_mesh_gpu_instancing"]
    emit("instancing_required.glb", gltf.glb(), row)

    gltf = plain()
    gltf.json.update(extensionsUsed=["VENDOR_shape"], extensionsRequired=["VENDOR_shape"])
    emit("unknown_required.glb", gltf.glb(), {"exit": [3, 5], "says": "VENDOR_shape"})
    whole = plain().glb()
    emit("truncated.glb", whole[:-100], {"exit": 3, "says": str(len(whole))})
    emit("glb_named.obj", whole, BOX)

    gltf = Gltf()  # half of the points lie elsewhere without the sparse values
    moved = [[0, 0, 0] if i % 2 else p for i, p in enumerate(POINTS)]
    odd = list(range(1, 24, 2))
    gltf.scene(box_of(gltf, gltf.accessor(moved, sparse={
        "count": 12, "indices": {"bufferView": gltf.view([[i] for i in odd], 5121), "componentType": 5121},
        "values": {"bufferView": gltf.view([POINTS[i] for i in odd], 5126)}})))
    emit("sparse.glb", gltf.glb(), BOX)

    gltf = Gltf()
    fan = gltf.accessor([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])
    gltf.scene({"mode": 6, "attributes": {"POSITION": fan}})
    gltf.json["meshes"][0]["primitives"].append({"mode": 5, "attributes": {"POSITION": gltf.accessor(
        [[0, 0, 1], [0, 1, 1], [1, 0, 1], [1, 1, 1], [2, 0, 1]])}})
    emit("strip_and_fan.glb", gltf.glb(), {"triangles": 5, "box": [[0, 0, 0], [2, 1, 1]], "area": 2.5})

    gltf = Gltf()
    primitive = {**box_of(gltf), "targets": [{"POSITION": gltf.accessor([[0, p[1], 0] for p in POINTS])}]}
    gltf.scene(primitive, {"weights": [0.5]})
    emit("morph.glb", gltf.glb(), {"triangles": 12, "box": [[-0.5, -1.5, -1.5], [0.5, 1.5, 1.5]], "area": 30})

    gltf = Gltf()  # whose joints are in bind pose, two to the right
    primitive = box_of(gltf)
    primitive["attributes"].update(JOINTS_0=gltf.accessor([[p[1] > 0, 0, 0, 0] for p in POINTS], 5121),
                                   WEIGHTS_0=gltf.accessor([[255, 0, 0, 0]] * 24, 5121, True))
    gltf.scene(primitive, skin=0, translation=[0, 0, 99])
    shifts = [[1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, y, 0, 1] for y in (1, -1)]
    gltf.json.update(skins=[{"joints": [1, 2], "inverseBindMatrices": gltf.accessor(shifts)}])
    gltf.json["nodes"] += [{"name": "low", "translation": [2, -1, 0], "children": [2]},
                           {"name": "high", "translation": [0, 2, 0]}]
    gltf.json["scenes"] = [{"nodes": [0, 1]}]
    emit("skin.glb", gltf.glb(), {"triangles": 12, "box": [[1.5, -1, -1.5], [2.5, 1, 1.5]], "area": 22})

    gltf = plain()
    gltf.json.update(nodes=[{"mesh": 0, "translation": [50, 0, 0]}, {"mesh": 0}], scenes=[{"nodes": [0]}, {"nodes": [1]}],
                     scene=1)
    emit("second_scene.glb", gltf.glb(), BOX)
    gltf = plain()
    gltf.json["nodes"][0]["matrix"] = [-1, 0, 0, 0, 0.5, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]
    emit("mirrored_shear.glb", gltf.glb(), {"triangles": 12, "size": [2, 2, 3], "area": 10 + 12 * math.hypot(0.5, 1)})

    gltf = plain()
    for name, uri in (("uri_escaped", "a%20b%C3%A9.bin"), ("uri_raw", "a bé.bin"),
                      ("uri_data", "data:application/gltf-buffer;base64," + base64.b64encode(gltf.data).decode())):
        (OUT / "a bé.bin").write_bytes(gltf.data)
        emit(name + ".gltf", gltf.text(uri), BOX, ["a bé.bin"])
    emit("uri_missing.gltf", gltf.text("gone.bin"), {"exit": [2, 3], "says": "gone.bin"})


def ply():
    # The first x is the float 0x3F00000A, whose first byte looks like a line feed.
    points = [[0.5 + 10 * 2.0**-24 if x == 0.5 else x for x in p] for p in POINTS]
    points = points[12:] + points[:12]
    triangles = [[(i + 12) % 24 for i in t] for t in TRIANGLES]
    for name, kind, end, order, point in (
            ("lf", "binary_little_endian", "\n", "<", "float"), ("cr", "binary_little_endian", "\r", "<", "float"),
            ("crlf", "binary_little_endian", "\r\n", "<", "float"), ("big", "binary_big_endian", "\n", ">", "float"),
            ("double", "binary_little_endian", "\n", "<", "double"), ("ascii", "ascii", "\r\n", "", "float")):
        lines = ["ply", f"format {kind} 1.0", "comment a box", "element vertex 24"]
        lines += [f"property {point} {c}" for c in "xyz"] + ["element face 12", "property list uchar int vertex_indices"]
        data = (end.join(lines + ["end_header"]) + end).encode()
        if order:
            data += b"".join(struct.pack(order + "3" + point[0], *p) for p in points)
            data += b"".join(struct.pack(order + "B3i", 3, *t) for t in triangles)
        else:
            data += end.join(" ".join(map(str, r)) for r in points + [[3, *t] for t in triangles]).encode()
        emit(f"ply_{name}.ply", data, BOX)


def prism(corners):
    """An OBJ of a slab of 0.2 m whose top and bottom are one polygon, and its want."""
    n = len(corners)
    text = "".join(f"v {x} {h} {-z}\n" for h in (0, 0.2) for x, z in corners)
    text += "f " + " ".join(map(str, range(n, 0, -1))) + "\nf " + " ".join(map(str, range(n + 1, 2 * n + 1))) + "\n"
    text += "".join(f"f {i + 1} {(i + 1) % n + 1} {n + (i + 1) % n + 1} {n + i + 1}\n" for i in range(n))
    edges = list(zip(corners, corners[1:] + corners[:1]))
    cap = abs(sum(a[0] * b[1] - a[1] * b[0] for a, b in edges)) / 2
    return text, {"triangles": 4 * n - 4, "area": 2 * cap + 0.2 * sum(math.dist(a, b) for a, b in edges)}


def obj():
    comb = [(0, 1), (0, 0)] + [(0.1 * i + d, y) for i in range(5) for d, y in ((0.08, 0), (0.09, 0.9), (0.1, 0.9))]
    for name, corners in {"l": [(0, 0), (1, 0), (1, 0.3), (0.3, 0.3), (0.3, 1), (0, 1)],
                          "dart": [(3, -1), (2, -4), (1, 0), (2, -3)][::-1], "comb": comb[:-2] + [(0.6, 0), (0.6, 1)],
                          "on_diagonal": [(0, 0), (2, 0), (1, 1), (2, 2), (0, 2)],
                          "collinear": [(0, 0), (0.5, 0), (1, 0), (1, 1), (0.5, 1), (0.5, 0.5), (0.25, 0.5), (0, 0.5)],
                          "spiral": [(0, 0), (5, 0), (5, 5), (1, 5), (1, 2), (3, 2), (3, 3), (2, 3), (2, 4), (4, 4),
                                     (4, 1), (0, 1)]}.items():
        emit(f"polygon_{name}.obj", *prism(corners))
    v = [f"v {p[0]:g} {p[1]:g} {p[2]:g}" for p in POINTS]
    f = ["f " + " ".join(str(i + 1) for i in t) for t in TRIANGLES]
    lines = "\n".join
    for name, text in {
            "comment": lines([x + " # C:\\dir\\" for x in v] + [x + "# last" for x in f]),
            "names_in_backslash": lines(v + ["g a\\b\\"] + f[:6] + ["usemtl c\\"] + f[6:]),
            "indented": lines(["  " + x for x in v] + ["\t" + x for x in f]),
            "continued": lines([x.replace(" ", " \\\n", 2) for x in v + f]), "bom": "\ufeff" + lines(v + f),
            "vt_u": lines(v + ["vt 0.5"] + [x.replace(" ", "/1 ").replace("f/1", "f") + "/1" for x in f]),
            "colours": lines([x + " 0.2 0.4 0.6" for x in v] + f), "weight_1": lines([x + " 1.0" for x in v] + f),
            "cr": "\r".join(v + f), "free_form": lines(["vp 0.1 0.2", "cstype bezier", "deg 3"] + v + f),
            "negative": lines(v + ["f " + " ".join(str(i - 24) for i in t) for t in TRIANGLES])}.items():
        emit(f"obj_{name}.obj", text + "\n", BOX)
    emit("obj_no_library.obj", lines(["mtllib gone.mtl"] + v + ["usemtl a"] + f), {**BOX, "says": "gone.mtl"})
    emit("obj_weight_half.obj", lines([x + " 0.5" for x in v] + f), {**BOX, "either": [{}, {"exit": 3}]})


def stl():
    def solid(name, shift):
        rows = ["facet normal 0 0 0\n outer loop\n" + "".join(
            f"  vertex {POINTS[i][0] + shift:g} {POINTS[i][1]:g} {POINTS[i][2]:g}\n" for i in t) +
            " endloop\nendfacet\n" for t in TRIANGLES]
        return f"solid {name}\n" + "".join(rows) + f"endsolid {name}\n"

    two = {"triangles": 24, "size": [3, 2, 3], "area": 44}
    for name, text in {"two": solid("a", 0) + solid("b", 2), "keywords": solid("facet", 0) + solid("my endsolid b", 2),
                       "empty_first": "solid c\nendsolid\n" + solid("a", 0) + solid("a", 2),
                       "upper": (solid("a", 0) + solid("b", 2)).upper(),
                       "spaced": "\r\n  " + (solid("a", 0) + solid("b", 2)).replace("\n", "\r\n\r\n")}.items():
        emit(f"stl_{name}.stl", text, two)
    triangles = b"".join(struct.pack("<12fH", 1, 0, 0, *(x for i in t for x in POINTS[i]), 0) for t in TRIANGLES)
    for name, head, count, tail, want in (
            ("binary", b"", 12, b"", BOX), ("binary_solid", b"solid facet", 12, b"", BOX), ("tail", b"", 12, b"end", BOX),
            ("cut", b"", 99, b"", {**BOX, "either": [{"says": "IMPORT_"}, {"exit": 3}]})):
        emit(f"stl_{name}.stl", head.ljust(80, b"\0") + struct.pack("<I", count) + triangles + tail, want)


def collada():
    numbers = " ".join(f"{x:g}" for p in POINTS for x in p)
    corners = " ".join(str(i) for t in TRIANGLES for i in t)
    param = "".join(f'<param name="{axis}" type="float"/>' for axis in "XYZ")
    emit("dae_texture_missing.dae", f"""<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><unit name="meter" meter="1"/><up_axis>Y_UP</up_axis></asset>
<library_images><image id="skin"><init_from>textures/gone.png</init_from></image></library_images>
<library_effects><effect id="effect"><profile_COMMON>
<newparam sid="surface"><surface type="2D"><init_from>skin</init_from></surface></newparam>
<newparam sid="sampler"><sampler2D><source>surface</source></sampler2D></newparam>
<technique sid="common"><lambert><diffuse><texture texture="sampler" texcoord="UV"/></diffuse></lambert></technique>
</profile_COMMON></effect></library_effects>
<library_materials><material id="m"><instance_effect url="#effect"/></material></library_materials>
<library_geometries><geometry id="box"><mesh>
<source id="positions"><float_array id="numbers" count="{3 * len(POINTS)}">{numbers}</float_array><technique_common>
<accessor source="#numbers" count="{len(POINTS)}" stride="3">{param}</accessor></technique_common></source>
<vertices id="vertices"><input semantic="POSITION" source="#positions"/></vertices>
<triangles material="m" count="{len(TRIANGLES)}"><input semantic="VERTEX" source="#vertices" offset="0"/>
<p>{corners}</p></triangles></mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="scene"><node id="node"><instance_geometry url="#box"><bind_material>
<technique_common><instance_material symbol="m" target="#m"/></technique_common></bind_material></instance_geometry>
</node></visual_scene></library_visual_scenes>
<scene><instance_visual_scene url="#scene"/></scene></COLLADA>
""", {**BOX, "says": "gone.png"})


def three_mf():
    mesh = "<mesh><vertices>" + "".join('<vertex x="{}" y="{}" z="{}"/>'.format(*p) for p in POINTS)
    mesh += "</vertices><triangles>" + "".join('<triangle v1="{}" v2="{}" v3="{}"/>'.format(*t) for t in TRIANGLES)
    mesh += "</triangles></mesh>"
    body = f'<object id="1">{mesh}</object>'
    colours = ('<m:colorgroup xmlns:m="http://schemas.microsoft.com/3dmanufacturing/material/2015/02" id="2">'
               '<m:color color="#FF0000"/></m:colorgroup>')
    unit = lambda u: {"triangles": 12, "size": [u, 3 * u, 2 * u], "area": 22 * u * u}
    for name, kind, resources, items, want in (
            ("millimetre", 'unit="millimeter"', body, '<item objectid="1"/>', unit(1e-3)),
            ("none", "", body, '<item objectid="1"/>', unit(1e-3)),
            ("inch", 'unit="inch"', body, '<item objectid="1"/>', unit(0.0254)),
            ("support", 'unit="meter"', body + body.replace('id="1"', 'id="3" type="support"'),
             '<item objectid="1"/><item objectid="3" transform="9 0 0 0 9 0 0 0 9 0 0 0"/>', unit(1)),
            ("colours", 'unit="meter"', colours + body.replace('id="1"', 'id="1" pid="2" pindex="0"'),
             '<item objectid="1"/>', unit(1)),
            ("components", 'unit="meter"', body + '<object id="4"><components><component objectid="1"/><component '
             'objectid="1" transform="2 0 0 0 2 0 0 0 2 5 0 0"/></components></object>', '<item objectid="4"/>',
             {"triangles": 24, "size": [6.5, 6, 4], "area": 110})):
        path = OUT / f"3mf_{name}.3mf"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for inside, text in (
                    ("[Content_Types].xml", '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
                     '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
                     '<Default Extension="model" ContentType="application/vnd.ms-package.3dmanufacturing-3dmodel+xml"/>'
                     "</Types>"),
                    ("_rels/.rels", '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
                     '<Relationship Target="/3D/3dmodel.model" Id="r" Type="http://schemas.microsoft.com/'
                     '3dmanufacturing/2013/01/3dmodel"/></Relationships>'),
                    ("3D/3dmodel.model", f'<model {kind} xmlns="http://schemas.microsoft.com/3dmanufacturing/core/'
                     f'2015/02"><resources>{resources}</resources><build>{items}</build></model>')):
                archive.writestr(zipfile.ZipInfo(inside), text, zipfile.ZIP_DEFLATED)
        WANTS[path.name] = want


OUT.mkdir(exist_ok=True)
for old in OUT.iterdir():
    old.unlink()
quantised()
compressed(sys.argv[1])
features()
ply()
obj()
stl()
collada()
three_mf()
rows = ",\n".join(f"{json.dumps(n, ensure_ascii=False)}: {json.dumps(w, ensure_ascii=False)}" for n, w in sorted(WANTS.items()))
(OUT / "want.json").write_text("{\n" + rows + "\n}\n")
