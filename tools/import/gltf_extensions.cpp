// SPDX-License-Identifier: MIT
// Source: Khronos Group. glTF 2.0 Extension Registry. 2026
#include "import/gltf_extensions.h"

#include "base/text.h"
#include "import/gltf_document.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <sstream>
#include <string>

namespace plush::tools {
namespace {

using nlohmann::json;

// Beginnings of names. Extensions that are read, or that change no geometry: materials, pictures,
// lights, sounds, metadata, animation, physics.
constexpr char kHarmless[] =
    "KHR_mesh_quantization EXT_meshopt_compression KHR_draco_mesh_compression "
    "EXT_mesh_gpu_instancing KHR_texture_ EXT_texture_ MSFT_texture_ MSFT_packing_ KHR_materials_ "
    "EXT_materials_ ADOBE_materials_ NV_materials_ KHR_technique KHR_lights_ EXT_lights_ KHR_audio "
    "MSFT_audio_ KHR_xmp EXT_structural_metadata EXT_mesh_features EXT_instance_features "
    "EXT_mesh_manifold FB_ngon_encoding FB_geometry_metadata CESIUM_primitive_outline AGI_ OMI_ "
    "VRM "
    "KHR_animation_pointer KHR_interactivity KHR_node_hoverability KHR_node_selectability "
    "KHR_physics_ KHR_implicit_shapes MSFT_lod GODOT_single_root";

// Without these, what is read is placed otherwise, or has other triangles.
constexpr char kGeometry[] =
    "KHR_node_visibility CESIUM_RTC EXT_mesh_primitive_restart KHR_mesh_primitive_restart "
    "KHR_gaussian_splatting";

bool IsListed(const char* beginnings, const std::string& name) {
  std::istringstream words(beginnings);
  const std::istream_iterator<std::string> first(words);
  return std::any_of(first, {}, [&](const std::string& word) { return name.starts_with(word); });
}

std::set<std::string> Names(const json& list) {
  std::set<std::string> names;
  for (size_t i = 0; list.is_array() && i < list.size(); ++i) {
    if (list[i].is_string()) names.insert(PrintableUtf8(list[i].get_ref<const std::string&>()));
  }
  return names;
}

}  // namespace

Result<Done> CheckGltfExtensions(const json& root, std::vector<RawFinding>* findings) {
  for (const std::string& name : Names(GltfMember(root, "extensionsRequired"))) {
    if (IsListed(kHarmless, name)) continue;
    return Error{ExitCode::kUnsupported,
                 "the file requires the extension " + name +
                     ", which is not read; save it without that extension",
                 "IMPORT_UNSUPPORTED"};
  }
  for (const std::string& name : Names(GltfMember(root, "extensionsUsed"))) {
    if (IsListed(kHarmless, name)) continue;
    if (IsListed(kGeometry, name)) {
      findings->push_back({"IMPORT_EXTENSION", 1, "the extension " + name + " is not applied"});
    } else {
      findings->push_back({"IMPORT_LEFT_OUT", 1, "the extension " + name + " is unknown"});
    }
  }
  return Done{};
}

}  // namespace plush::tools
