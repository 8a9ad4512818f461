// SPDX-License-Identifier: MIT
#include "page/motion_page.h"

#include "plush/asset.h"
#include "plush/format/tet_block.h"
#include "plush/world.h"

#include "base/text.h"
#include "simulate/draw_layers.h"

#include <algorithm>

namespace plush::tools {
namespace {

constexpr size_t kMaxLineBytes = size_t{16} << 20;

// (num_frames x num_points) to (num_points x num_frames): the places of a point resemble each
// other.
std::vector<Vec3> ByPoint(const std::vector<Vec3>& by_frame, size_t num_frames) {
  const size_t num_points = num_frames == 0 ? 0 : by_frame.size() / num_frames;
  std::vector<Vec3> by_point(by_frame.size());
  for (size_t frame = 0; frame < num_frames; ++frame) {
    for (size_t p = 0; p < num_points; ++p) {
      by_point[p * num_frames + frame] = by_frame[frame * num_points + p];
    }
  }
  return by_point;
}

std::vector<Vec3> ContactPoints(const World& world) {
  std::vector<Vec3> points;
  DebugDraw draw;
  draw.flags = kDrawContacts;
  draw.user = &points;
  draw.point = [](void* user, const Vec3& p, float, uint32_t) {
    static_cast<std::vector<Vec3>*>(user)->push_back(p);
  };
  world.Draw(draw);
  return points;
}

template <class Value>
nlohmann::json Column(const RunRecord& record, const Value& value) {
  nlohmann::json column = nlohmann::json::array();
  // Four digits serve a plot, and keep the page small.
  for (const StepRecord& step : record.steps) {
    column.push_back(
        nlohmann::json::parse(NumberText(static_cast<double>(value(step)), 4), nullptr, false));
  }
  for (nlohmann::json& number : column) {
    if (number.is_discarded()) number = nullptr;
  }
  return column;
}

nlohmann::json PerStep(const RunRecord& record) {
  using Step = const StepRecord&;
  return {{"kinetic_j", Column(record, [](Step s) { return s.measures.kinetic_j; })},
          {"elastic_j", Column(record, [](Step s) { return s.measures.elastic_j; })},
          {"gravity_j", Column(record, [](Step s) { return s.measures.gravity_j; })},
          {"contacts", Column(record, [](Step s) { return s.stats.contacts; })},
          {"penetration_m", Column(record, [](Step s) { return s.measures.max_penetration; })},
          {"max_speed_m_s", Column(record, [](Step s) { return s.measures.max_speed; })},
          {"min_det_f", Column(record, [](Step s) { return s.measures.min_det_f; })},
          {"step_ms", Column(record, [](Step s) { return s.step_ms; })}};
}

}  // namespace

Result<MotionRecorder> MotionRecorder::Create(const SceneWorld& scene_world, uint32_t steps,
                                              uint32_t most_frames) {
  const uint32_t stride = std::max(1u, (steps + most_frames - 1) / most_frames);
  const uint64_t bytes = uint64_t{steps / stride + 2} * scene_world.num_nodes() * sizeof(Vec3);
  if (bytes > kMaxMotionBytes) {
    return Error{ExitCode::kLimit,
                 "the motion would have " + std::to_string(bytes >> 20) +
                     " MiB of positions, more than " + std::to_string(kMaxMotionBytes >> 20) +
                     "; lower --frames",
                 ""};
  }
  return MotionRecorder(steps, stride);
}

void MotionRecorder::Observe(const SceneWorld& scene_world, uint32_t steps_done) {
  if (steps_done % stride_ != 0 && steps_done != last_step_) return;
  frame_steps_.push_back(steps_done);
  nodes_.resize(scene_world.bodies.size());
  for (size_t i = 0; i < scene_world.bodies.size(); ++i) {
    const SceneWorldBody& body = scene_world.bodies[i];
    std::vector<Vec3> nodes(scene_world.asset_of(body).simulation().nodes.size());
    (void)scene_world.world->NodePositions(body.id, 1.0f, nodes);  // ours, and of the right size
    nodes_[i].insert(nodes_[i].end(), nodes.begin(), nodes.end());
  }
  // Of very many lines only the first frames are kept, and the first one shown.
  if (line_ends_.empty() ||
      line_ends_.size() * line_ends_[0].size() * sizeof(Vec3) < kMaxLineBytes) {
    const auto layers = DrawLayers(*scene_world.world, kDrawColliders);
    line_ends_.push_back(layers.empty() ? std::vector<Vec3>() : layers[0].ends);
    if (line_ends_.size() == 1 && !layers.empty()) line_colours_ = layers[0].colours;
  }
  contact_starts_.push_back(static_cast<uint32_t>(contacts_.size()));
  const std::vector<Vec3> contacts = ContactPoints(*scene_world.world);
  contacts_.insert(contacts_.end(), contacts.begin(), contacts.end());
}

std::vector<Vec3> MotionRecorder::LineEnds() const {
  if (line_ends_.empty()) return {};
  const auto same = [](const Vec3& a, const Vec3& b) {
    return a.x == b.x && a.y == b.y && a.z == b.z;
  };
  bool moves = false, comparable = line_ends_.size() == num_frames();
  for (const std::vector<Vec3>& frame : line_ends_) {
    comparable &= frame.size() == line_ends_[0].size();
    moves |=
        !std::equal(frame.begin(), frame.end(), line_ends_[0].begin(), line_ends_[0].end(), same);
  }
  if (!moves || !comparable) return line_ends_[0];
  std::vector<Vec3> ends;
  for (const auto& frame : line_ends_) ends.insert(ends.end(), frame.begin(), frame.end());
  return ends;
}

nlohmann::json MotionRecorder::Page(const SceneWorld& scene_world, const RunRecord& record,
                                    double dt, const std::vector<size_t>& models,
                                    PackedArrays* arrays) const {
  nlohmann::json bodies = nlohmann::json::array();
  for (size_t i = 0; i < scene_world.bodies.size(); ++i) {
    const SceneWorldBody& body = scene_world.bodies[i];
    bodies.push_back({{"name", PrintableUtf8(body.name)},
                      {"model", models[body.asset_index]},
                      {"fixed", body.fixed},
                      {"nodes", arrays->AddPositions(ByPoint(nodes_[i], num_frames()))}});
  }
  const std::vector<Vec3> ends = LineEnds();
  const size_t line_frames =
      line_ends_.empty() || line_ends_[0].empty() ? 0 : ends.size() / line_ends_[0].size();
  std::vector<uint32_t> starts = contact_starts_;
  starts.push_back(static_cast<uint32_t>(contacts_.size()));
  return {{"dt", dt},
          {"steps", frame_steps_},
          {"bodies", bodies},
          {"lines",
           {{"frames", line_frames},
            {"ends", arrays->AddPositions(ByPoint(ends, line_frames))},
            {"colours", line_colours_}}},
          {"contacts", {{"starts", starts}, {"positions", arrays->AddPositions(contacts_)}}},
          {"per_step", PerStep(record)}};
}

}  // namespace plush::tools
