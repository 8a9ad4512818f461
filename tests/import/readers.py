# SPDX-License-Identifier: MIT
"""Second readers of OBJ, PLY, STL and 3MF for tests: box, area and number of triangles, as plush check should say."""
import math
import re
import struct
import xml.etree.ElementTree as xml
import zipfile


class Refused(Exception):
    """The file has no meaning that all readers share."""


def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def fan(points, first):
    """The triangles of a polygon, all with corner `first`."""
    n = len(points)
    return [[points[first], points[(first + i) % n], points[(first + i + 1) % n]] for i in range(1, n - 1)]


def area_of(points):
    """The areas of a polygon by any cut: least and most. A plane one has one; if it has over four corners it is taken
    as plane."""
    normals = [cross(*[[x - y for x, y in zip(p, t[0])] for p in t[1:]]) for t in fan(points, 0)]
    if len(points) != 4:
        whole = math.hypot(*map(sum, zip(*normals))) / 2
        return whole, whole
    cuts = [sum(math.hypot(*cross(*[[x - y for x, y in zip(p, t[0])] for p in t[1:]])) / 2 for t in fan(points, k))
            for k in (0, 1)]
    plane = math.hypot(*map(sum, zip(*normals))) / 2  # of a quad that is not convex, one cut lies outside
    return (plane, plane) if min(cuts) < plane * (1 + 1e-6) else (min(cuts), max(cuts))


def facts(polygons):
    """{triangles, box, area} of polygons; area is [least, most], box spans the corners in use."""
    corners = [p for polygon in polygons for p in polygon]
    if not corners:
        raise Refused("no triangles")
    areas = [area_of(p) for p in polygons]
    return {"triangles": sum(len(p) - 2 for p in polygons),
            "box": [[f(p[k] for p in corners) for k in range(3)] for f in (min, max)],
            "area": [math.fsum(a[0] for a in areas), math.fsum(a[1] for a in areas)]}


def read_obj(data):
    text = data.decode("utf-8-sig", "replace").replace("\r\n", "\n").replace("\r", "\n").replace("\0", " ")
    # A backslash at a line's end goes on with numbers only: names may end in one.
    count = 1
    while count:
        text, count = re.subn(r"(?m)^([ \t]*(?:v|vt|vn|f|l|p)\b[^#\n]*)\\\n", r"\1 ", text)
    points, faces = [], []
    for line in text.split("\n"):
        words = line.split("#")[0].split()
        if not words:
            continue
        if words[0] == "v":
            if len(words) < 4:
                raise Refused(f"a vertex of {len(words) - 1} numbers")
            points.append([float(w) for w in words[1:4]])
        elif words[0] == "f":
            at = [int(w.split("/")[0]) for w in words[1:]]
            faces.append([i + len(points) if i < 0 else i - 1 for i in at])
    faces = [f for f in faces if len(f) > 2 and all(0 <= i < len(points) for i in f)]
    return facts([[points[i] for i in f] for f in faces])


PLY_TYPES = {"char": "b", "uchar": "B", "short": "h", "ushort": "H", "int": "i", "uint": "I", "float": "f", "double": "d",
             "int8": "b", "uint8": "B", "int16": "h", "uint16": "H", "int32": "i", "uint32": "I", "float32": "f",
             "float64": "d"}


def read_ply(data):
    end = re.search(rb"\Aply[ \t]*(\r\n|\r|\n)", data)
    stop = re.search(rb"(?:\r\n|\r|\n)end_header[ \t]*" + end[1], data) if end else None
    if not stop:
        raise Refused("no header")
    lines = [line.split() for line in data[:stop.start()].decode("latin1").replace("\r", "\n").split("\n")]
    order = {"binary_little_endian": "<", "binary_big_endian": ">", "ascii": ""}[
        next(line[1] for line in lines if line[:1] == ["format"])]
    words, at = data[stop.end():].split() if not order else [], stop.end()

    def number(kind):
        nonlocal at
        if not order:
            return float(words.pop())
        value, = struct.unpack_from(order + PLY_TYPES[kind], data, at)
        at += struct.calcsize(PLY_TYPES[kind])
        return value

    words.reverse()
    elements, rows = [], {}
    for line in lines:
        if line[:1] == ["element"]:
            elements.append((line[1], int(line[2]), []))
        elif line[:1] == ["property"]:
            elements[-1][2].append(line[1:])
    for name, count, properties in elements:
        rows[name] = [{p[-1]: [number(p[2]) for _ in range(int(number(p[1])))] if p[0] == "list" else number(p[0])
                       for p in properties} for _ in range(count)]
    points = [[v[k] for k in "xyz"] for v in rows["vertex"]]
    faces = [f.get("vertex_indices", f.get("vertex_index")) for f in rows.get("face", [])]
    return facts([[points[int(i)] for i in f] for f in faces if len(f) > 2])


def read_stl(data):
    count = struct.unpack_from("<I", data, 80)[0] if len(data) >= 84 else -1
    words = re.split(rb"[\r\n]+", data)
    is_text = data.lstrip()[:5].lower() == b"solid" and any(w.split()[:1] in ([b"vertex"], [b"VERTEX"]) for w in words)
    if len(data) == 84 + 50 * count or not is_text:
        if count < 0:
            raise Refused("neither text nor binary")
        floats = [struct.unpack_from("<9f", data, 96 + 50 * i) for i in range(min(count, (len(data) - 84) // 50))]
        return facts([[t[:3], t[3:6], t[6:]] for t in floats])
    corners = [[float(x) for x in w.split()[1:4]] for w in words if w.split()[:1] and w.split()[0].lower() == b"vertex"]
    return facts([corners[i:i + 3] for i in range(0, len(corners) - 2, 3)])


UNITS = {"micron": 1e-6, "millimeter": 1e-3, "centimeter": 1e-2, "inch": 0.0254, "foot": 0.3048, "meter": 1.0}


def read_3mf(path):
    with zipfile.ZipFile(path) as archive:
        root = xml.fromstring(archive.read(next(n for n in archive.namelist() if n.lower().endswith(".model"))))
    core = "{" + root.tag[1:].split("}")[0] + "}"
    unit = UNITS[root.get("unit", "millimeter")]
    objects = {o.get("id"): o for o in root.iter(core + "object")}

    def moved(p, transform):
        m = [float(x) for x in transform.split()] if transform else [1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0]
        return [sum(p[r] * m[3 * r + c] for r in range(3)) + m[9 + c] for c in range(3)]

    def triangles(key):
        o = objects[key]
        points = [[float(v.get(k)) for k in "xyz"] for v in o.iter(core + "vertex")]
        found = [[points[int(t.get(k))] for k in ("v1", "v2", "v3")] for t in o.iter(core + "triangle")]
        for part in o.iter(core + "component"):
            found += [[moved(p, part.get("transform")) for p in t] for t in triangles(part.get("objectid"))]
        return found

    found = []
    for item in root.iter(core + "item"):
        if objects[item.get("objectid")].get("type") not in ("support", "solidsupport"):
            found += [[moved(p, item.get("transform")) for p in t] for t in triangles(item.get("objectid"))]
    return facts([[[p[0] * unit, p[2] * unit, -p[1] * unit] for p in t] for t in found])  # Z up there, Y up here


def read(path):
    """The facts of a file, in metres, Y up. Refused if it has none."""
    kind = str(path).lower().rsplit(".", 1)[1]
    if kind == "3mf":
        return read_3mf(path)
    data = open(path, "rb").read()
    try:
        return {"obj": read_obj, "ply": read_ply, "stl": read_stl}[kind](data)
    except (ValueError, LookupError, struct.error) as error:
        raise Refused(repr(error)) from error
