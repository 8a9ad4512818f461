// SPDX-License-Identifier: MIT
// The executable `plush-import FILE [--keep-axes]`: reads a file with a reader of our own, else
// with Assimp, and writes it to stdout in the format of raw_scene.h. Exit codes: HelperExit.
//
// It runs as a child of `plush`, because Assimp may crash, hang or exhaust memory on hostile files.

#include "base/files.h"
#include "import/corner_joining.h"
#include "import/import.h"
#include "import/own_formats.h"
#include "import/raw_scene.h"
#include "import/side_files.h"
#include "import/source_conventions.h"

#include <assimp/DefaultIOSystem.h>
#include <assimp/Importer.hpp>
#include <assimp/config.h>
#include <assimp/importerdesc.h>
#include <assimp/metadata.h>
#include <assimp/postprocess.h>
#include <assimp/scene.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <fstream>
#include <map>
#include <new>
#include <set>
#include <utility>

namespace plush::tools {
namespace {

// Enough for the header of an XML file [bytes].
constexpr size_t kHeadBytes = 64 << 10;

std::string NormalPath(const char* file) {
  return std::filesystem::path(file).lexically_normal().string();
}

// Opens only regular files, only for reading, and records the normal forms of paths.
class RecordingIoSystem : public Assimp::DefaultIOSystem {
 public:
  std::set<std::string> opened;
  mutable std::set<std::string> missing;  // not found

  Assimp::IOStream* Open(const char* file, const char* mode) override {
    struct stat info = {};
    if (mode == nullptr || mode[0] != 'r') return nullptr;
    if (::stat(file, &info) != 0 || !S_ISREG(info.st_mode)) {
      missing.insert(NormalPath(file));
      return nullptr;
    }
    Assimp::IOStream* stream = DefaultIOSystem::Open(file, mode);
    if (stream != nullptr) opened.insert(NormalPath(file));
    return stream;
  }

  bool Exists(const char* file) const override {
    const bool exists = DefaultIOSystem::Exists(file);
    if (!exists) missing.insert(NormalPath(file));
    return exists;
  }
};

std::string ToString(const aiString& text) {
  return {text.data, std::min<size_t>(text.length, sizeof(text.data))};
}

// The importer's first file extension.
std::string FormatName(const Assimp::Importer& importer) {
  const auto index = static_cast<size_t>(importer.GetPropertyInteger("importerIndex", -1));
  const aiImporterDesc* description = importer.GetImporterInfo(index);  // null beyond the last
  if (description == nullptr) return "unknown";
  const std::string extensions = description->mFileExtensions;
  return extensions.substr(0, extensions.find(' '));
}

std::string ReadHead(const std::string& path) {
  std::string head(kHeadBytes, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<size_t>(file.gcount()));
  return head;
}

FbxSettings ReadFbxSettings(const aiScene& scene) {
  FbxSettings settings;
  if (scene.mMetaData == nullptr) return settings;
  float scale = 0.0f;  // it is a float or a double
  if (scene.mMetaData->Get("UnitScaleFactor", scale)) settings.unit_scale_cm = scale;
  scene.mMetaData->Get("UnitScaleFactor", settings.unit_scale_cm);
  scene.mMetaData->Get("UpAxis", settings.up_axis);
  return settings;
}

template <class T>
std::array<T, 16> Numbers(const aiMatrix4x4& matrix) {
  std::array<T, 16> rows;
  for (unsigned k = 0; k < 16; ++k) rows[k] = static_cast<T>(matrix[k / 4][k % 4]);
  return rows;
}

Vec3 ToVec3(const aiVector3D& v) { return {v.x, v.y, v.z}; }

void AddColours(const aiMesh& mesh, RawMesh* raw) {
  for (unsigned i = 0; i < 4 * AI_MAX_NUMBER_OF_COLOR_SETS; ++i) {
    const unsigned set = i / 4;
    if (!mesh.HasVertexColors(set)) continue;
    std::vector<float> values;
    for (unsigned v = 0; v < mesh.mNumVertices; ++v) values.push_back(mesh.mColors[set][v][i % 4]);
    raw->attributes.push_back(
        {"COLOR_" + std::to_string(set) + "." + "rgba"[i % 4], std::move(values)});
  }
}

// The joints and weights of the meshes. A joint is the first node of its name.
void AddSkins(const aiScene& scene, RawScene* raw) {
  std::map<std::string, uint32_t> node_of_name;
  for (uint32_t i = 0; i < raw->nodes.size(); ++i) node_of_name.emplace(raw->nodes[i].name, i);
  for (unsigned m = 0; m < scene.mNumMeshes; ++m) {
    RawMesh& mesh = raw->meshes[m];
    for (unsigned b = 0; b < scene.mMeshes[m]->mNumBones; ++b) {
      const aiBone& bone = *scene.mMeshes[m]->mBones[b];
      const auto node = node_of_name.find(ToString(bone.mName));
      if (node == node_of_name.end()) continue;
      mesh.joints.push_back({node->second, Numbers<float>(bone.mOffsetMatrix)});
      const auto number = static_cast<uint32_t>(mesh.joints.size() - 1);
      for (unsigned w = 0; w < bone.mNumWeights; ++w) {
        const aiVertexWeight& weight = bone.mWeights[w];
        if (weight.mVertexId >= mesh.positions.size()) continue;
        mesh.weights.push_back({weight.mVertexId, number, static_cast<float>(weight.mWeight)});
      }
    }
    if (mesh.weights.empty()) mesh.joints.clear();
  }
}

RawMesh ConvertMesh(const aiMesh& mesh, unsigned num_materials) {
  RawMesh raw;
  raw.name = ToString(mesh.mName);
  if (mesh.mMaterialIndex < num_materials) raw.material = mesh.mMaterialIndex;
  if (!mesh.HasPositions()) return raw;
  for (unsigned v = 0; v < mesh.mNumVertices; ++v) {
    raw.positions.push_back(ToVec3(mesh.mVertices[v]));
    if (mesh.HasNormals()) raw.normals.push_back(ToVec3(mesh.mNormals[v]));
    if (mesh.HasTextureCoords(0)) {
      raw.uvs.push_back({mesh.mTextureCoords[0][v].x, mesh.mTextureCoords[0][v].y});
    }
  }
  AddColours(mesh, &raw);
  for (unsigned f = 0; f < mesh.mNumFaces; ++f) {
    const aiFace& face = mesh.mFaces[f];
    if (face.mNumIndices != 3) continue;
    raw.triangles.push_back({face.mIndices[0], face.mIndices[1], face.mIndices[2]});
  }
  return raw;
}

nlohmann::json MetadataValue(const aiMetadataEntry& entry) {
  if (entry.mType == AI_BOOL) return *static_cast<bool*>(entry.mData);
  if (entry.mType == AI_INT32) return *static_cast<int32_t*>(entry.mData);
  if (entry.mType == AI_UINT64) return *static_cast<uint64_t*>(entry.mData);
  if (entry.mType == AI_FLOAT) return *static_cast<float*>(entry.mData);
  if (entry.mType == AI_DOUBLE) return *static_cast<double*>(entry.mData);
  if (entry.mType == AI_AISTRING) return ToString(*static_cast<aiString*>(entry.mData));
  return nullptr;
}

// Adds the artist's metadata at a node, without the importers' bookkeeping.
void AddNodeMetadata(const aiNode& node, RawScene* scene) {
  static const std::set<std::string> kBookkeeping = {"Collada_id", "Collada_sid", "IsNull",
                                                     "DefaultAttributeIndex", "InheritType"};
  if (node.mMetaData == nullptr) return;
  nlohmann::json object = nlohmann::json::object();
  for (unsigned i = 0; i < node.mMetaData->mNumProperties; ++i) {
    const std::string key = ToString(node.mMetaData->mKeys[i]);
    const nlohmann::json value = MetadataValue(node.mMetaData->mValues[i]);
    if (!value.is_null() && !kBookkeeping.contains(key)) object[key] = value;
  }
  if (object.empty()) return;
  scene->extras.push_back({"node:" + ToString(node.mName),
                           object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)});
}

// Depth first, without recursion, since files may nest nodes to any depth.
void ConvertNodes(const aiScene& scene, RawScene* raw) {
  std::vector<std::pair<const aiNode*, int32_t>> stack = {{scene.mRootNode, -1}};  // and parents
  while (!stack.empty()) {
    const auto [node, parent] = stack.back();
    stack.pop_back();
    if (node == nullptr) continue;
    const auto index = static_cast<int32_t>(raw->nodes.size());
    raw->nodes.push_back(
        {ToString(node->mName), parent, Numbers<double>(node->mTransformation), {}});
    for (unsigned i = 0; i < node->mNumMeshes; ++i) {
      if (node->mMeshes[i] < scene.mNumMeshes) raw->nodes.back().meshes.push_back(node->mMeshes[i]);
    }
    AddNodeMetadata(*node, raw);
    for (unsigned i = node->mNumChildren; i-- > 0;) stack.emplace_back(node->mChildren[i], index);
  }
}

// The material's base colour, linear; white if it has none or it is only a texture.
Vec3 BaseColour(const aiMaterial& material) {
  aiColor4D colour(1.0f, 1.0f, 1.0f, 1.0f);
  if (material.Get(AI_MATKEY_BASE_COLOR, colour) != aiReturn_SUCCESS) {
    (void)material.Get(AI_MATKEY_COLOR_DIFFUSE, colour);
  }
  return {colour.r, colour.g, colour.b};
}

RawScene ConvertScene(const aiScene& scene, const std::string& format, const std::string& head) {
  RawScene raw;
  raw.format = format;
  const SourceConventions conventions = ConventionsOf(format, head, ReadFbxSettings(scene));
  raw.unit_m = conventions.unit_m;
  raw.applied_unit_m = conventions.applied_unit_m;
  raw.up = conventions.up;
  for (unsigned i = 0; i < scene.mNumMaterials; ++i) {
    raw.materials.push_back(ToString(scene.mMaterials[i]->GetName()));
    raw.colours.push_back(BaseColour(*scene.mMaterials[i]));
  }
  for (unsigned i = 0; i < scene.mNumMeshes; ++i) {
    raw.meshes.push_back(ConvertMesh(*scene.mMeshes[i], scene.mNumMaterials));
  }
  ConvertNodes(scene, &raw);
  AddSkins(scene, &raw);
  return raw;
}

// The textures that materials name, but for those inside the file, which are not there.
std::set<std::string> MissingTextures(const std::string& path, const aiScene& scene) {
  std::set<std::string> missing;
  for (unsigned m = 0; m < scene.mNumMaterials; ++m) {
    const aiMaterial& material = *scene.mMaterials[m];
    for (unsigned i = 0; i < material.mNumProperties; ++i) {
      const aiMaterialProperty& property = *material.mProperties[i];
      if (ToString(property.mKey) != "$tex.file") continue;
      aiString name;
      const auto type = static_cast<aiTextureType>(property.mSemantic);
      if (material.GetTexture(type, property.mIndex, &name) != aiReturn_SUCCESS) continue;
      if (name.length == 0 || scene.GetEmbeddedTexture(name.C_Str()) != nullptr) continue;
      if (!HasSideFile(path, ToString(name))) missing.insert(SideFile(path, ToString(name)));
    }
  }
  return missing;
}

// Why the importer refuses a file.
Error Refusal(const Assimp::Importer& importer, const std::string& extension,
              std::span<const std::byte> head) {
  const std::string message = importer.GetErrorString();
  if (message.find("No suitable reader") == std::string::npos) {
    return {ExitCode::kInvalidInput, message.empty() ? "the importer gives no reason" : message};
  }
  if (extension.empty() || !importer.IsExtensionSupported(extension)) {
    return {ExitCode::kUnsupported, "no importer knows this type of file"};
  }
  const std::string content = ContentName(head);
  return {ExitCode::kInvalidInput, "the content is not of the type that the file name says" +
                                       (content.empty() ? "" : ": the file is " + content)};
}

// Reads `path` with a reader of our own, else with Assimp:
// - Triangulates polygons; leaves out points, lines and animation.
// - Keeps vertices as they are.
// - With `keep_axes`, COLLADA models are not turned to Y up.
Result<RawScene> ReadScene(const std::string& path, bool keep_axes) {
  Assimp::Importer importer;
  std::error_code error;
  const std::string extension = std::filesystem::path(path).extension().string();
  const bool is_known = importer.GetImporterIndex(extension.c_str()) != SIZE_MAX;
  const std::string text = ReadHead(path);
  const auto head = std::as_bytes(std::span(text));
  const uint64_t size = std::filesystem::file_size(path, error);
  if (const SceneReader read = OwnReader(path, head, size, is_known)) {
    const auto bytes = ReadFile(path, kMaxSourceBytes);
    return bytes.ok() ? read(path, bytes.value()) : bytes.error();
  }
  auto* files = new RecordingIoSystem;
  importer.SetIOHandler(files);  // which owns it
  importer.SetPropertyInteger(AI_CONFIG_IMPORT_COLLADA_IGNORE_UP_DIRECTION, keep_axes ? 1 : 0);
  const aiScene* scene = importer.ReadFile(path, aiProcess_Triangulate);
  if (scene == nullptr) return Refusal(importer, extension, head);
  RawScene raw = ConvertScene(*scene, FormatName(importer), text);
  files->opened.erase(NormalPath(path.c_str()));
  raw.dependencies.assign(files->opened.begin(), files->opened.end());
  raw.missing.assign(files->missing.begin(), files->missing.end());
  AddMissingFiles(MissingTextures(path, *scene), &raw);
  return raw;
}

// Reads `path`, joins equal vertices and writes the scene to stdout.
HelperExit Import(const std::string& path, bool keep_axes) {
  // Keeps importers' own output out of the stream.
  std::FILE* out = ::fdopen(::dup(STDOUT_FILENO), "wb");
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  if (out == nullptr) return HelperExit::kUnreadable;
  Result<RawScene> scene = ReadScene(path, keep_axes);
  if (scene.ok()) {
    for (RawMesh& mesh : scene.value().meshes) JoinEqualVertices(&mesh);
    return WriteRawScene(scene.value(), out) ? HelperExit::kOk : HelperExit::kUnreadable;
  }
  std::fprintf(stderr, "%s\n", scene.error().message.c_str());
  const ExitCode code = scene.error().exit_code;
  return code == ExitCode::kIo            ? HelperExit::kUnreadable
         : code == ExitCode::kUnsupported ? HelperExit::kUnsupported
                                          : HelperExit::kRefused;
}

HelperExit RunImporter(const std::string& path, bool keep_axes) {
  // If an allocation fails, the memory limit was reached.
  std::set_new_handler([] { ::_exit(static_cast<int>(HelperExit::kOutOfMemory)); });
  try {
    return Import(path, keep_axes);
  } catch (const std::bad_alloc&) {
    return HelperExit::kOutOfMemory;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return HelperExit::kRefused;
  }
}

}  // namespace
}  // namespace plush::tools

#if defined(__SANITIZE_ADDRESS__)
// A fault that the sanitizer finds counts as a crash. Leaks in Assimp do not matter here.
extern "C" const char* __asan_default_options() {
  return "abort_on_error=1:detect_leaks=0:handle_segv=0:handle_abort=0";
}
#endif

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3 || (argc == 3 && std::string(argv[2]) != "--keep-axes")) {
    std::fprintf(stderr, "usage: plush-import FILE [--keep-axes]\n");
    return 1;
  }
  return static_cast<int>(plush::tools::RunImporter(argv[1], argc == 3));
}
