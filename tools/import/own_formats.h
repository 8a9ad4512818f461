// SPDX-License-Identifier: MIT
// Our own readers of formats other than glTF, and which one reads a file.
#pragma once

#include "base/result.h"
#include "import/raw_scene.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace plush::tools {

using SceneReader = Result<RawScene> (*)(const std::string& path, std::span<const std::byte> bytes);

/// The reader for a file of `size` bytes with the beginning `head`; nullptr if there is none of our
/// own. `is_known_name`: whether the extension is one of another reader's format.
/// - glTF, PLY, and 3MF that begins with its model, by the first bytes.
/// - .obj, .ply, .stl and .3mf by the name.
/// - STL and OBJ by the first bytes, unless the name is one of another format that is no glTF.
SceneReader OwnReader(const std::string& path, std::span<const std::byte> head, uint64_t size,
                      bool is_known_name);

/// What else the first bytes say that the file is, as in "a PNG image"; empty if they say nothing.
std::string ContentName(std::span<const std::byte> head);

/// Reads the `bytes` of the OBJ file `path`, and the .mtl files beside it.
/// - A mesh per run of polygons with one object or group and one material. Corners that are equal
///   by their indices are one vertex.
/// - Positions, texture coordinates (v is 0 if missing), normals, and colours as COLOR_0.
/// - Polygons become triangles (PolygonCutter).
/// - Points, lines, and faces of fewer than three corners: IMPORT_LEFT_OUT. A missing .mtl or
///   texture: IMPORT_FILE_MISSING.
///
/// Errors: kInvalidInput with the line's number (numbers missing, an index that is 0 or of nothing,
/// a fourth coordinate other than 1, a free-form surface, text in UTF-16, no statement of OBJ).
Result<RawScene> ReadObj(const std::string& path, std::span<const std::byte> bytes);

/// Whether a file with this beginning is text whose first statement is one of OBJ.
bool LooksLikeObj(std::span<const std::byte> head);

/// Reads the `bytes` of a PLY file: text or binary of either byte order; lines of the header end
/// with LF, CRLF or CR, as the first one does. Other elements are passed over.
/// - Vertices: x y z; nx ny nz; texture coordinates (u v, s t, texture_u texture_v); colours as
///   COLOR_0 (red green blue alpha, from 0 to 1); other properties of type float or double as
///   attributes of their names.
/// - Faces: lists vertex_indices, and texcoord, which gives corners their own texture coordinates.
///   Polygons become triangles (PolygonCutter). Strips of triangles (tristrips), where -1 begins
///   a new one.
/// - Texture files that comments name (TextureFile) and that are missing: IMPORT_FILE_MISSING.
///
/// Errors: kInvalidInput with line or byte: a header that makes no sense, data that end early,
/// words that are no numbers, no vertices with x, y and z.
Result<RawScene> ReadPly(const std::string& path, std::span<const std::byte> bytes);

/// Reads the `bytes` of an STL file: binary if its size is what its count of triangles says, or if
/// it does not begin with the word "solid".
/// - Text: a mesh per solid; its name is the rest of the line. Keywords of any case.
/// - Binary: one mesh. Colours of triangles as COLOR_0, as VisCAM, SolidView and Magics write them.
/// - Normals of triangles are not read.
///
/// Errors: kInvalidInput with line or sizes: a count of triangles that does not agree with the
/// file's size, coordinates that are no numbers, a triangle that the file's end cuts.
Result<RawScene> ReadStl(const std::string& path, std::span<const std::byte> bytes);

/// Whether a file of `size` bytes with this beginning is surely STL.
bool LooksLikeStl(std::span<const std::byte> head, uint64_t size);

/// Reads the 3MF file `path`, whose bytes are given, in the unit that it names; Z is up.
/// - Places the items of its build with their components, also those of other parts of the archive
///   (production extension). The rest of the objects is left out.
/// - A mesh per object and base material; triangles take the material of their first corner.
///   Colours and textures of triangles are not read.
/// - Objects of type support or solidsupport: IMPORT_LEFT_OUT.
///
/// Errors: kInvalidInput (no ZIP archive, broken or missing parts, XML or numbers; an unknown unit;
/// objects that are missing; components nested beyond 32 levels or placed 2^18 times), kUnsupported
/// (a required extension other than those for materials and production), kLimit (unpacked parts of
/// more than 1 GiB).
Result<RawScene> Read3mf(const std::string& path, std::span<const std::byte> bytes);

/// Whether a file with this beginning is a ZIP archive that begins with a model of 3MF.
bool LooksLike3mf(std::span<const std::byte> head);

}  // namespace plush::tools
