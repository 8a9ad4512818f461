# SPDX-License-Identifier: MIT
"""Two models for matrix.py with what samples lack: a textured, coloured one of mirrored nodes, and a skinned, morphed one."""
import math
import struct
import zlib

from gltf_writer import Gltf


def png(size=8):
    """A red and white chequerboard."""
    rows = b"".join(b"\0" + b"".join(b"\xff\xff\xff" if (x + y) % 2 else b"\xff\0\0" for x in range(size))
                    for y in range(size))
    chunks = ((b"IHDR", struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0)), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(struct.pack(">I", len(d)) + k + d + struct.pack(">I", zlib.crc32(k + d))
                                           for k, d in chunks)


def ellipsoid(radii, columns, rows):
    """Points from pole to pole along y, normals, UVs and triangles. Corners at the seam of the UVs are there twice."""
    points, normals, uvs = [], [], []
    for j in range(rows + 1):
        for i in range(columns + 1):
            a, b = 2 * math.pi * (i % columns) / columns, math.pi * j / rows
            n = [math.sin(b) * math.cos(a), -math.cos(b), math.sin(b) * math.sin(a)]
            points.append([round(r * x, 6) for r, x in zip(radii, n)])
            normals.append([x / r for r, x in zip(radii, n)])
            uvs.append([i / columns, j / rows])
    quads = [(j * (columns + 1) + i, j * (columns + 1) + i + 1) for j in range(rows) for i in range(columns)]
    triangles = [t for a, b in quads for t in ((a, b + columns + 1, b), (a, a + columns + 1, b + columns + 1))]
    return (points, [[x / math.hypot(*n) for x in n] for n in normals], uvs,
            [t for t in triangles if len({tuple(points[i]) for i in t}) == 3])


def coloured():
    gltf = Gltf()
    points, normals, uvs, triangles = ellipsoid((0.3, 0.5, 0.2), 32, 24)
    colours = [[round(65535 * x) for x in (u, v, 1 - u, 1)] for u, v in uvs]
    gltf.scene({"attributes": {"POSITION": gltf.accessor(points), "NORMAL": gltf.accessor(normals),
                               "TEXCOORD_0": gltf.accessor(uvs), "COLOR_0": gltf.accessor(colours, 5123, True)},
                "indices": gltf.accessor([i for t in triangles for i in t], 5123), "material": 0})
    picture = gltf.view([[x] for x in png()], 5121)
    gltf.json.update(
        nodes=[{"name": "left", "mesh": 0, "translation": [-0.5, 0.5, 0]},
               {"name": "right", "translation": [0.5, 0, 0], "rotation": [0, 0.6, 0, 0.8], "children": [2]},
               {"name": "mirrored", "mesh": 0, "scale": [-0.7, 1.1, 0.7], "translation": [0, 0.6, 0.1]}],
        scenes=[{"nodes": [0, 1]}], images=[{"bufferView": picture, "mimeType": "image/png"}], samplers=[{}],
        textures=[{"source": 0, "sampler": 0}],
        materials=[{"name": "chequered", "pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}])
    return gltf.glb()


def worm():
    """Three joints along a spindle. Its root is turned and scaled; half of a morph target that bends it applies."""
    gltf = Gltf()
    points, normals, _, triangles = ellipsoid((0.1, 0.5, 0.1), 20, 30)
    weights = [[max(0, 1 - abs(2 * p[1] + 1 - k)) for k in range(3)] + [0] for p in points]
    whole = [[round(255 * w) for w in row] for row in weights]
    for row in whole:
        row[row.index(max(row))] += 255 - sum(row)
    attributes = {"POSITION": gltf.accessor(points), "NORMAL": gltf.accessor(normals),
                  "JOINTS_0": gltf.accessor([[0, 1, 2, 0]] * len(points), 5121),
                  "WEIGHTS_0": gltf.accessor(whole, 5121, True)}
    bend = gltf.accessor([[0.3 * (p[1] + 0.5) ** 2, 0, 0] for p in points])
    gltf.scene({"attributes": attributes, "targets": [{"POSITION": bend}], "material": 0,
                "indices": gltf.accessor([i for t in triangles for i in t], 5123)}, {"weights": [0.5]}, skin=0, name="body")
    binds = [[1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0.5 - k / 2, 0, 1] for k in range(3)]
    gltf.json["nodes"] += [{"name": "root", "rotation": [0.6, 0, 0, 0.8], "scale": [2, 2, 2], "children": [2]},
                           {"name": "tail", "translation": [0, -0.5, 0], "children": [3]},
                           {"name": "middle", "translation": [0, 0.5, 0], "children": [4]},
                           {"name": "head", "translation": [0, 0.5, 0]}]
    gltf.json.update(scenes=[{"nodes": [0, 1]}], materials=[{"name": "skin"}],
                     skins=[{"joints": [2, 3, 4], "skeleton": 1, "inverseBindMatrices": gltf.accessor(binds)}])
    return gltf.glb()
