// SPDX-License-Identifier: MIT
// A baked soft body or static mesh, read in place.
//
// An Asset is a view: it copies no bulk data and never writes. One mapped file serves any number of
// worlds, threads and processes. Format: schemas/plush.fbs.
#pragma once

#include "plush/status.h"
#include "plush/types.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace plush {

/// Version of the file format that this runtime reads. While it is 0.N, other N are refused.
inline constexpr uint16_t kFormatMajor = 0;
inline constexpr uint16_t kFormatMinor = 10;

/// Most clusters of nodes of a body.
inline constexpr uint32_t kMaxClusters = 256;

/// Alignment of the bytes that Asset::Open needs [bytes].
inline constexpr size_t kAssetAlignment = 32;

/// What Open checks.
enum class Trust : uint8_t {
  kNothing,    ///< everything: structure, counts, every index, every float
  kValidated,  ///< not the indices and floats. Only for bytes that this process has opened with
               ///< kNothing before: a wrong index reads outside the file
};

/// What lies on either side of the triangles of a static mesh.
enum class MeshSides : uint8_t {
  // kSolid and kFront act alike in contact: what is behind by less than a quarter of a median edge
  // is pushed out to the front.
  kSolid,  ///< solid behind, free in front: the mesh bounds a volume
  kFront,  ///< a thin surface that holds what comes from the front
  kBoth,   ///< a thin surface that holds what comes from either side
};

/// A run of the render surface with one material.
struct PartView {
  std::string_view name = {};      ///< mesh name as imported, may be empty
  std::string_view material = {};  ///< material name as imported, may be empty
  std::string_view node = {};      ///< scene node name as imported, may be empty
  uint32_t first_index = 0;        ///< into VisualView::indices
  uint32_t num_indices = 0;        ///< a multiple of 3
};

/// VIZ: the render surface and the tet that carries each vertex.
struct VisualView {
  std::span<const Vec3> positions = {};    ///< rest positions [m] (num_vertices x 1)
  std::span<const Vec3> normals = {};      ///< unit normals (num_vertices x 1)
  std::span<const Vec4> tangents = {};     ///< unit tangents to growing u; w is 1 or -1, and
                                           ///< w cross(normal, tangent) points up in the image,
                                           ///< as in glTF (num_vertices x 1, or empty)
  std::span<const Vec2> uvs = {};          ///< texture coordinates (num_vertices x 1, or empty)
  std::span<const uint32_t> indices = {};  ///< triangle corners (3 num_triangles x 1)
  std::span<const uint32_t> tet_ids = {};  ///< carrying tet (num_vertices x 1)
  std::span<const Vec4> weights = {};      ///< barycentric weights in that tet (num_vertices x 1)
};

/// SIM: the cage. Its nodes are the degrees of freedom, in the elimination order of the factor.
struct CageView {
  std::span<const Vec3> nodes = {};        ///< rest positions X [m] (num_nodes x 1)
  std::span<const float> masses = {};      ///< lumped mass [kg], > 0 (num_nodes x 1)
  std::span<const Tet> tets = {};          ///< node indices (num_tets x 1)
  std::span<const float> tet_masses = {};  ///< of the solid in each tet [kg], >= 0 (num_tets x 1)
  std::span<const uint16_t> tet_materials = {};  ///< index for Asset::material (num_tets x 1)
  std::span<const uint16_t> clusters = {};       ///< cluster of each node, < num_clusters; or
                                                 ///< empty: none (num_nodes x 1)
  uint32_t num_clusters = 0;                     ///< 0 if clusters is empty, <= kMaxClusters
  uint32_t components = 0;                       ///< connected components of the cage, >= 1
  float density = 0.0f;                          ///< mean density [kg/m^3], > 0
  float damping = 0.0f;                          ///< Kelvin-Voigt relaxation time [s], in [0, 10]
  float solid_volume = 0.0f;                     ///< volume enclosed by the surface [m^3], >= 0
  float median_edge = 0.0f;                      ///< median edge length of the cage [m], > 0
};

/// An isotropic material of the cage, or the material of a static mesh's surface.
struct MaterialView {
  std::string_view name = {};  ///< that of the source's material, may be empty
  float young = 0.0f;          ///< Young's modulus [Pa], > 0; 0 of a static mesh
  float poisson = 0.0f;        ///< Poisson's ratio, in [0, 0.5); 0 of a static mesh
  float density = 0.0f;        ///< [kg/m^3], > 0; 0 of a static mesh
  float friction = -1.0f;      ///< Coulomb coefficient, >= 0, or below 0: not given
  float restitution = -1.0f;   ///< in [0, 1], or below 0: not given; see MaterialOverride
};

// The packed data, as the solver and the queries read them; each in its header of plush/format.
struct SimulationView;  ///< the cage and its rest data: tet_block.h
struct FactorView;      ///< the factor of the constant matrix: factor_panels.h
struct CollisionView;   ///< the collision surface: cdg_records.h
struct StaticMeshView;  ///< a static mesh: static_mesh.h

/// A named set of cage nodes, for pinning.
struct RegionView {
  std::string_view name = {};            ///< unique in the asset
  std::span<const uint32_t> nodes = {};  ///< ascending cage node indices
  Pose rest = {};                        ///< bind pose of the region's joint in rest coordinates,
                                         ///< rotation of length 1 within 1e-3; the identity if
                                         ///< the region has no joint
  bool has_joint = false;                ///< whether the region belongs to a joint of a skin
};

/// Which solver a tuning is of.
enum class TunedSolver : uint8_t { kNone, kSplitting, kImplicit };

/// What `plush tune` chose for a body. Bodies whose solver is `solver` take its iterations where
/// their settings have 0. The time step is the game's to make.
struct TuningView {
  TunedSolver solver = TunedSolver::kNone;  ///< kNone: not tuned, all else is 0
  int newton_iterations = 0;                ///< of kSplitting its outer iterations; in [1, 64]
  int linear_iterations = 0;                ///< of kImplicit, in [1, 10000]; else 0
  float dt = 0.0f;                          ///< the baked time step [s]
};

/// A baked soft body or static mesh, opened. Movable, not copyable; the default is an empty asset.
class Asset {
 public:
  Asset();
  ~Asset();
  Asset(Asset&& other) noexcept;
  Asset& operator=(Asset&& other) noexcept;
  Asset(const Asset&) = delete;
  Asset& operator=(const Asset&) = delete;

  /// Maps the file at `path` read-only and opens it. The mapping lives as long as the asset. If
  /// another process truncates the file meanwhile, the operating system decides what happens; to be
  /// safe, read the file into memory and use the other overload. On failure the asset is unchanged.
  /// Errors: kCannotRead, and those of the other overload except kMisaligned.
  Status Open(const char* path, Trust trust = Trust::kNothing);

  /// Opens `bytes` in place; they must stay valid and unchanged as long as the asset lives. Their
  /// address must be a multiple of kAssetAlignment; otherwise copy them with CopyAligned. Any bytes
  /// give either an error or an asset that simulates without undefined behaviour. Does not compare
  /// the content hash (`plush validate` does). On failure the asset is unchanged. O(size); does not
  /// allocate. Errors: kMisaligned, kTruncated, kBadMagic, kForeignVersion, kLayoutMismatch,
  /// kCorrupt.
  Status Open(std::span<const std::byte> bytes, Trust trust = Trust::kNothing);

  bool is_open() const { return !bytes_.empty(); }
  /// Whether the file holds a static mesh: a shape for colliders, not a body. The views of bodies
  /// are then empty.
  bool is_static() const { return is_static_; }
  std::span<const std::byte> bytes() const { return bytes_; }  ///< the whole file

  // Views into the file; all empty while no file is open. Valid while the asset is open.
  const VisualView& visual() const { return visual_; }
  const CageView& cage() const;
  /// For each triangle of the collision surface (SurfacePoint::triangle), the triangle of visual()
  /// that it was cut from, or that is nearest (--collision-triangles); or empty.
  std::span<const uint32_t> source_triangles() const;
  const SimulationView& simulation() const;
  const FactorView& factor() const;
  const CollisionView& collision() const;
  const StaticMeshView& static_mesh() const;

  uint32_t num_parts() const { return num_parts_; }
  PartView part(uint32_t index) const;  ///< index < num_parts()
  uint32_t num_materials() const { return num_materials_; }
  MaterialView material(uint32_t index) const;  ///< index < num_materials()
  uint32_t num_regions() const { return num_regions_; }
  RegionView region(uint32_t index) const;  ///< index < num_regions(), in ascending order of name
  TuningView tuning() const;                ///< of a body baked with --tuning

  uint64_t content_hash() const { return content_hash_; }  ///< as written; not verified
  uint64_t source_hash() const { return source_hash_; }    ///< XXH3-64 of the source file
  std::string_view tool_version() const { return tool_version_; }
  std::string_view settings() const { return settings_; }  ///< bake settings, JSON text

 private:
  struct PackedViews;
  const PackedViews& packed() const;
  void Reset();

  // Room for PackedViews, which names records that games need not see.
  static constexpr size_t kPackedViewBytes = 44 * sizeof(std::span<const std::byte>);

  std::span<const std::byte> bytes_;
  bool is_static_ = false;
  VisualView visual_;
  alignas(std::span<const std::byte>) std::byte packed_[kPackedViewBytes];
  uint32_t num_parts_ = 0;
  uint32_t num_materials_ = 0;
  uint32_t num_regions_ = 0;
  uint64_t content_hash_ = 0;
  uint64_t source_hash_ = 0;
  std::string_view tool_version_;
  std::string_view settings_;
  void* mapping_ = nullptr;  // start of the owned file mapping, null when the caller owns the bytes
  size_t mapping_bytes_ = 0;
};

/// Finds a region by name: an index for Asset::region. O(log regions); does not allocate. If it
/// fails, `out_region` is as it was. Errors:
/// kInvalidArgument (section "region": the asset has no region of that name, as an asset that is
/// not open has none; section "out_region": it is null).
[[nodiscard]] Status FindRegion(const Asset& asset, std::string_view name, uint32_t* out_region);

/// Copies `bytes` to the first address in `storage` aligned to kAssetAlignment. Returns that place,
/// or an empty span if they do not fit; bytes.size() + kAssetAlignment - 1 always suffice.
std::span<const std::byte> CopyAligned(std::span<const std::byte> bytes,
                                       std::span<std::byte> storage);

}  // namespace plush
