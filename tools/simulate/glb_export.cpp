// SPDX-License-Identifier: MIT
// Records frames of a run and writes them as skin animation.
// Source: Khronos Group, glTF 2.0 Specification, 2021 (3.7.3 Skins, 3.11 Animations).
#include "simulate/glb_export.h"

#include "plush/format/tet_block.h"
#include "plush/version.h"

#include "export/gltf_writer.h"
#include "simulate/palette.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <utility>

namespace plush::tools {
namespace {

using nlohmann::json;

constexpr uint64_t kMaxAnimationBytes = 1ull << 30;

// `q` at unit length, with the sign nearer to `previous`. q and -q are the same rotation, but
// interpolation between opposite signs takes the long way round.
Quat Continued(const Quat& q, const Quat& previous) {
  const double length = std::sqrt(static_cast<double>(q.x) * q.x + static_cast<double>(q.y) * q.y +
                                  static_cast<double>(q.z) * q.z + static_cast<double>(q.w) * q.w);
  if (!(length > 0.5 && length < 2.0)) return previous;
  const float side = q.x * previous.x + q.y * previous.y + q.z * previous.z + q.w * previous.w;
  const double scale = (side < 0.0f ? -1.0 : 1.0) / length;
  const auto scaled = [&](float c) { return static_cast<float>(c * scale); };
  return {scaled(q.x), scaled(q.y), scaled(q.z), scaled(q.w)};
}

void RecordBody(const SceneWorld& scene_world, const SceneWorldBody& body,
                BodyAnimation* animation) {
  const size_t num_nodes = scene_world.asset_of(body).simulation().nodes.size();
  const size_t begin = animation->nodes.size();
  animation->nodes.resize(begin + num_nodes);
  Pose pose;
  // Both calls refuse only wrong sizes and unknown bodies.
  (void)scene_world.world->NodePositions(body.id, 1.0f, std::span(animation->nodes).subspan(begin));
  (void)scene_world.world->BestFitPose(body.id, &pose);
  const Quat previous = animation->rotations.empty() ? Quat{} : animation->rotations.back();
  animation->rotations.push_back(Continued(pose.rotation, previous));
}

// Clamps to zero, scales to sum one and adds the rounding to the largest weight. The stored floats
// sum to one within half a unit in the last place.
std::array<float, 4> Normalised(const std::array<double, 4>& baked) {
  double sum = 0.0;
  for (const double w : baked) sum += std::max(w, 0.0);
  if (!(sum > 0.0)) return {1.0f, 0.0f, 0.0f, 0.0f};
  std::array<float, 4> weights = {};
  size_t largest = 0;
  for (size_t i = 0; i < 4; ++i) {
    weights[i] = static_cast<float>(std::max(baked[i], 0.0) / sum);
    if (weights[i] > weights[largest]) largest = i;
  }
  double others = 0.0;
  for (size_t i = 0; i < 4; ++i) {
    if (i != largest) others += weights[i];
  }
  weights[largest] = static_cast<float>(1.0 - others);
  return weights;
}

constexpr size_t kMaxJoints = 65536;  // JOINTS_0 holds 16 bits at most

// Shared by the bodies of one asset.
struct SharedMesh {
  uint32_t mesh = 0;
  uint32_t inverse_binds = 0;  // accessor
  bool has_triangles = false;
};

json ToJson(const Vec3& v) { return {v.x, v.y, v.z}; }
json ToJson(const Quat& q) { return {q.x, q.y, q.z, q.w}; }

std::vector<Vec3> UnitNormals(std::span<const Vec3> normals) {
  std::vector<Vec3> unit;
  unit.reserve(normals.size());
  for (const Vec3& n : normals) {
    const float length = std::sqrt(n.x * n.x + n.y * n.y + n.z * n.z);
    const bool sound = std::isfinite(length) && length > 0.0f;
    unit.push_back(sound ? Vec3{n.x / length, n.y / length, n.z / length} : Vec3{0, 1, 0});
  }
  return unit;
}

// Column-major translations by -X.
std::vector<std::array<float, 16>> InverseBinds(std::span<const Vec3> rest) {
  std::vector<std::array<float, 16>> matrices;
  matrices.reserve(rest.size());
  for (const Vec3& X : rest) {
    matrices.push_back({1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, -X.x, -X.y, -X.z, 1});
  }
  return matrices;
}

class GlbExporter {
 public:
  GlbExporter(const SceneWorld& scene_world, const Animation& animation)
      : scene_world_(scene_world),
        animation_(animation),
        writer_(std::string("Plush ") + kVersionString) {}

  Result<std::vector<std::byte>> Export() {
    if (animation_.too_many_lines) {
      return Error{ExitCode::kLimit,
                   "the frames have more than " + std::to_string(kMaxAnimationBytes >> 20) +
                       " MiB of lines; lower --fps or --steps, or draw fewer layers",
                   ""};
    }
    for (const auto& asset : scene_world_.assets) {
      const size_t num_joints = asset->simulation().nodes.size();
      if (num_joints > kMaxJoints) {
        return Error{ExitCode::kLimit,
                     "a cage has " + std::to_string(num_joints) + " nodes, but a glTF skin holds " +
                         std::to_string(kMaxJoints) +
                         "; bake with fewer --tets, or export .obj frames",
                     ""};
      }
      meshes_.push_back(AddMesh(*asset));
    }
    times_ = writer_.AddTimes(animation_.times);
    for (size_t i = 0; i < scene_world_.bodies.size(); ++i) {
      if (meshes_[scene_world_.bodies[i].asset_index].has_triangles) AddBody(i);
    }
    if (roots_.empty()) {
      return Error{ExitCode::kInvalidInput, "no body has a triangle to export", ""};
    }
    const uint32_t num_materials = AddMaterials();
    AddLines(num_materials);
    writer_.Add("scenes", {{"nodes", roots_}});
    writer_.document()["scene"] = 0;
    if (!channels_.empty()) {
      writer_.Add("animations",
                  {{"name", "simulation"}, {"channels", channels_}, {"samplers", samplers_}});
    }
    return writer_.Finish();
  }

 private:
  json Attributes(const Asset& asset) {
    const VisualView& visual = asset.visual();
    const SkinWeights skin = MakeSkinWeights(asset);
    const auto add = [&](const auto& values, const char* type) {
      return writer_.AddArray(std::span(values), GltfTarget::kVertices, GltfComponent::kFloat,
                              type);
    };
    json attributes = {{"POSITION", writer_.AddPositions(visual.positions)},
                       {"NORMAL", add(UnitNormals(visual.normals), "VEC3")}};
    if (!visual.uvs.empty()) attributes["TEXCOORD_0"] = add(visual.uvs, "VEC2");
    attributes["JOINTS_0"] = writer_.AddArray(std::span(skin.joints), GltfTarget::kVertices,
                                              GltfComponent::kUint16, "VEC4");
    attributes["WEIGHTS_0"] = add(skin.weights, "VEC4");
    return attributes;
  }

  SharedMesh AddMesh(const Asset& asset) {
    SharedMesh shared;
    shared.has_triangles = !asset.visual().indices.empty();
    if (!shared.has_triangles) return shared;
    const json attributes = Attributes(asset);
    const uint32_t index_view =
        writer_.AddView(std::as_bytes(asset.visual().indices), GltfTarget::kIndices);
    json primitives = json::array();
    for (uint32_t i = 0; i < asset.num_parts(); ++i) {
      const PartView part = asset.part(i);
      if (part.num_indices == 0) continue;
      const uint32_t indices =
          writer_.AddAccessor(index_view, part.first_index * sizeof(uint32_t),
                              GltfComponent::kUint32, part.num_indices, "SCALAR");
      primitives.push_back({{"attributes", attributes},
                            {"indices", indices},
                            {"material", palette_.IndexOf(part.material)}});
    }
    shared.mesh = writer_.Add("meshes", {{"primitives", primitives}});
    const auto binds = InverseBinds(asset.simulation().nodes);
    shared.inverse_binds = writer_.AddArray(std::span(std::as_const(binds)), GltfTarget::kNone,
                                            GltfComponent::kFloat, "MAT4");
    return shared;
  }

  // A node for the mesh and one for the cage, whose children are the joints.
  void AddBody(size_t body_index) {
    const SceneWorldBody& body = scene_world_.bodies[body_index];
    const SharedMesh& shared = meshes_[body.asset_index];
    const BodyAnimation& frames = animation_.bodies[body_index];
    const size_t num_nodes = scene_world_.asset_of(body).simulation().nodes.size();
    std::vector<uint32_t> joints;
    for (size_t i = 0; i < num_nodes; ++i) {
      json joint = {{"translation", ToJson(frames.nodes[i])},
                    {"rotation", ToJson(frames.rotations[0])}};
      if (body.scale != 1.0f) joint["scale"] = {body.scale, body.scale, body.scale};
      joints.push_back(writer_.Add("nodes", std::move(joint)));
    }
    const uint32_t cage =
        writer_.Add("nodes", {{"name", body.name + ".cage"}, {"children", joints}});
    const uint32_t skin = writer_.Add(
        "skins",
        {{"joints", joints}, {"skeleton", cage}, {"inverseBindMatrices", shared.inverse_binds}});
    roots_.push_back(
        writer_.Add("nodes", {{"name", body.name}, {"mesh", shared.mesh}, {"skin", skin}}));
    roots_.push_back(cage);
    if (!body.fixed) AddChannels(frames, joints);
  }

  // One translation sampler per joint, one rotation sampler for all of them.
  void AddChannels(const BodyAnimation& frames, std::span<const uint32_t> joints) {
    const size_t num_frames = animation_.times.size();
    std::vector<Vec3> translations(frames.nodes.size());  // (num_joints x num_frames)
    for (size_t joint = 0; joint < joints.size(); ++joint) {
      for (size_t frame = 0; frame < num_frames; ++frame) {
        translations[joint * num_frames + frame] = frames.nodes[frame * joints.size() + joint];
      }
    }
    const uint32_t view =
        writer_.AddView(std::as_bytes(std::span(translations)), GltfTarget::kNone);
    const size_t rotation = AddSampler(writer_.AddArray(
        std::span(frames.rotations), GltfTarget::kNone, GltfComponent::kFloat, "VEC4"));
    for (size_t joint = 0; joint < joints.size(); ++joint) {
      const size_t translation = AddSampler(writer_.AddAccessor(
          view, joint * num_frames * sizeof(Vec3), GltfComponent::kFloat, num_frames, "VEC3"));
      AddChannel(translation, joints[joint], "translation");
      AddChannel(rotation, joints[joint], "rotation");
    }
  }

  size_t AddSampler(uint32_t output) {
    samplers_.push_back({{"input", times_}, {"output", output}, {"interpolation", "LINEAR"}});
    return samplers_.size() - 1;
  }

  void AddChannel(size_t sampler, uint32_t node, const char* path) {
    channels_.push_back({{"sampler", sampler}, {"target", {{"node", node}, {"path", path}}}});
  }

  // Returns their number.
  uint32_t AddMaterials() {
    for (const NamedColour& material : palette_.materials()) {
      const Vec3 c = material.linear_rgb;
      json entry = {{"doubleSided", true},
                    {"pbrMetallicRoughness",
                     {{"baseColorFactor", {c.x, c.y, c.z, 1.0f}},
                      {"metallicFactor", 0.0},
                      {"roughnessFactor", 0.75}}}};
      if (!material.name.empty()) entry["name"] = material.name;
      writer_.Add("materials", std::move(entry));
    }
    return static_cast<uint32_t>(palette_.materials().size());
  }

  // A node by layer, whose children are the frames of it.
  void AddLines(uint32_t material) {
    std::map<std::string, std::vector<uint32_t>> frames_of_layer;
    for (size_t frame = 0; frame < animation_.lines.size(); ++frame) {
      std::vector<uint32_t> nodes;
      for (const LineLayer& layer : animation_.lines[frame]) {
        const float scale = frame == 0 ? 1.0f : 0.0f;
        nodes.push_back(writer_.Add("nodes", {{"name", layer.name + "." + std::to_string(frame)},
                                              {"mesh", AddLineMesh(layer, material)},
                                              {"scale", {scale, scale, scale}}}));
        frames_of_layer[layer.name].push_back(nodes.back());
      }
      if (!nodes.empty() && animation_.lines.size() > 1) ShowOnlyIn(frame, nodes);
    }
    if (frames_of_layer.empty()) return;
    writer_.Add("materials",
                {{"name", "lines"},
                 {"pbrMetallicRoughness", {{"metallicFactor", 0.0}, {"roughnessFactor", 1.0}}}});
    for (const auto& [name, frames] : frames_of_layer) {
      roots_.push_back(writer_.Add("nodes", {{"name", "draw." + name}, {"children", frames}}));
    }
  }

  uint32_t AddLineMesh(const LineLayer& layer, uint32_t material) {
    constexpr int kLines = 1;  // mode
    std::vector<Vec3> colours;
    for (const uint32_t colour : layer.colours) {
      colours.insert(colours.end(), 2, LinearColour(colour));
    }
    const json attributes = {
        {"POSITION", writer_.AddPositions(layer.ends)},
        {"COLOR_0", writer_.AddArray(std::span(std::as_const(colours)), GltfTarget::kVertices,
                                     GltfComponent::kFloat, "VEC3")}};
    const json primitive = {{"attributes", attributes}, {"mode", kLines}, {"material", material}};
    return writer_.Add("meshes", {{"primitives", json::array({primitive})}});
  }

  // Gives `nodes` the scale 1 in one frame and 0 in all others.
  void ShowOnlyIn(size_t frame, std::span<const uint32_t> nodes) {
    const Vec3 hidden = {0, 0, 0};
    const Vec3 shown = {1, 1, 1};
    std::vector<float> times;
    std::vector<Vec3> scales;
    const auto add_key = [&](size_t key, const Vec3& scale) {
      times.push_back(animation_.times[key]);
      scales.push_back(scale);
    };
    if (frame > 0) add_key(0, hidden);
    add_key(frame, shown);
    if (frame + 1 < animation_.times.size()) add_key(frame + 1, hidden);
    const uint32_t output = writer_.AddArray(std::span(std::as_const(scales)), GltfTarget::kNone,
                                             GltfComponent::kFloat, "VEC3");
    samplers_.push_back(
        {{"input", writer_.AddTimes(times)}, {"output", output}, {"interpolation", "STEP"}});
    for (const uint32_t node : nodes) AddChannel(samplers_.size() - 1, node, "scale");
  }

  const SceneWorld& scene_world_;
  const Animation& animation_;
  GltfWriter writer_;
  Palette palette_;
  std::vector<SharedMesh> meshes_;  // per asset
  std::vector<uint32_t> roots_;     // nodes of the scene
  uint32_t times_ = 0;              // accessor
  json channels_ = json::array();
  json samplers_ = json::array();
};

}  // namespace

void AnimationRecorder::Observe(const SceneWorld& scene_world, uint32_t steps_done) {
  if (steps_done % stride_ != 0 && steps_done != last_step_) return;
  animation_.bodies.resize(scene_world.bodies.size());
  animation_.times.push_back(static_cast<float>(dt_ * steps_done));
  for (size_t i = 0; i < scene_world.bodies.size(); ++i) {
    RecordBody(scene_world, scene_world.bodies[i], &animation_.bodies[i]);
  }
  if (draw_flags_ != 0) RecordLines(*scene_world.world);
}

void AnimationRecorder::RecordLines(const World& world) {
  if (animation_.too_many_lines) return;
  animation_.lines.push_back(DrawLayers(world, draw_flags_));
  for (const LineLayer& layer : animation_.lines.back()) {
    line_bytes_ += layer.ends.size() * 2 * sizeof(Vec3);  // as exported
  }
  animation_.too_many_lines = line_bytes_ > kMaxAnimationBytes;
}

uint32_t FrameStride(double dt, double fps) {
  const double stride = std::round(1.0 / (dt * fps));
  return stride < 1.0 ? 1 : static_cast<uint32_t>(std::min(stride, 1.0e9));
}

Result<Done> CheckAnimationSize(const SceneWorld& scene_world, uint32_t steps, uint32_t stride) {
  const uint64_t bytes = uint64_t{steps / stride + 2} * scene_world.num_nodes() * sizeof(Vec3);
  if (bytes <= kMaxAnimationBytes) return Done{};
  return Error{ExitCode::kLimit,
               "the animation would have " + std::to_string(bytes >> 20) +
                   " MiB of joint positions, more than " +
                   std::to_string(kMaxAnimationBytes >> 20) + "; lower --fps or --steps",
               ""};
}

SkinWeights MakeSkinWeights(const Asset& asset) {
  const VisualView& visual = asset.visual();
  SkinWeights skin;
  skin.joints.reserve(visual.weights.size());
  skin.weights.reserve(visual.weights.size());
  for (size_t v = 0; v < visual.weights.size(); ++v) {
    const Tet& tet = asset.simulation().tets[visual.tet_ids[v]];
    const std::array<uint32_t, 4> nodes = {tet.a, tet.b, tet.c, tet.d};
    const Vec4& w = visual.weights[v];
    const std::array<float, 4> weights = Normalised({w.x, w.y, w.z, w.w});
    std::array<uint16_t, 4> joints = {};
    for (size_t i = 0; i < 4; ++i) {
      if (weights[i] > 0.0f) joints[i] = static_cast<uint16_t>(nodes[i]);
    }
    skin.joints.push_back(joints);
    skin.weights.push_back({weights[0], weights[1], weights[2], weights[3]});
  }
  return skin;
}

Result<std::vector<std::byte>> ExportGlb(const SceneWorld& scene_world,
                                         const Animation& animation) {
  return GlbExporter(scene_world, animation).Export();
}

}  // namespace plush::tools
