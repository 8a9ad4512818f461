# SPDX-License-Identifier: MIT
"""Writes small glTF files for tests."""
import json
import struct

FORMATS = {5120: "b", 5121: "B", 5122: "h", 5123: "H", 5125: "I", 5126: "f"}


class Gltf:
    def __init__(self):
        self.data = b""
        self.json = {"asset": {"version": "2.0"}, "bufferViews": [], "accessors": []}

    def view(self, rows, kind):
        row = struct.calcsize(f"<{len(rows[0])}{FORMATS[kind]}")
        stride = -(-row // 4) * 4 if len(rows[0]) > 1 else row
        begin = len(self.data)
        for r in rows:
            self.data += struct.pack(f"<{len(r)}{FORMATS[kind]}", *r).ljust(stride, b"\0")
        view = {"buffer": 0, "byteOffset": begin, "byteLength": len(self.data) - begin}
        if stride != row:
            view["byteStride"] = stride
        self.json["bufferViews"].append(view)
        self.data += b"\0" * (-len(self.data) % 4)
        return len(self.json["bufferViews"]) - 1

    def accessor(self, rows, kind=5126, normalized=False, **more):
        rows = [r if isinstance(r, (list, tuple)) else [r] for r in rows]
        self.json["accessors"].append({
            "bufferView": self.view(rows, kind), "componentType": kind, "count": len(rows),
            "type": {1: "SCALAR", 2: "VEC2", 3: "VEC3", 4: "VEC4", 16: "MAT4"}[len(rows[0])], "min": [min(c) for c in zip(*rows)],
            "max": [max(c) for c in zip(*rows)], **({"normalized": True} if normalized else {}), **more})
        return len(self.json["accessors"]) - 1

    def scene(self, primitive, mesh=None, **node):
        self.json.update(scene=0, scenes=[{"nodes": [0]}], nodes=[{"mesh": 0, **node}],
                         meshes=[{"name": "mesh", "primitives": [primitive], **(mesh or {})}])
        return self

    def text(self, uri):
        return json.dumps({**self.json, "buffers": [{"byteLength": len(self.data), "uri": uri}]})

    def glb(self):
        text = json.dumps({**self.json, "buffers": [{"byteLength": len(self.data)}]}).encode()
        text += b" " * (-len(text) % 4)
        return (struct.pack("<4sIIII", b"glTF", 2, 28 + len(text) + len(self.data), len(text), 0x4E4F534A) + text +
                struct.pack("<II", len(self.data), 0x004E4942) + self.data)
