// SPDX-License-Identifier: MIT
// All finding codes with severity, meaning and remedy, in the alphabetical order that the search
// needs. docs_test compares the generated table of the documentation with this one.
#include "base/finding.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace plush::tools {
namespace {

constexpr Severity kE = Severity::kError;
constexpr Severity kW = Severity::kWarning;
constexpr Severity kI = Severity::kInfo;

constexpr auto kCodes = std::to_array<FindingCode>({
    {"BAKE_TIME", kE, "The bake reached its time limit.",
     "Simplify the mesh, ask for fewer tets, or raise --bake-time."},
    {"BATCH_UNMATCHED", kW, "A pattern of a manifest's inputs matches no file.",
     "Correct the pattern, or delete it."},
    {"CACHE_DAMAGED", kI, "An entry of the cache was damaged and not used.",
     "None needed; check the disk if it happens often."},
    {"CACHE_NOT_WRITTEN", kI, "The bake could not be kept in the cache.",
     "None needed for this bake; make room, or allow writing to the cache's folder."},
    {"CAGE_CAVITY", kI, "A component lies inside another and faces inwards: a cavity.",
     "None needed if the hollow is meant."},
    {"CAGE_COMPONENT_FLIPPED", kW, "A component faces inwards and was turned around for the cage.",
     "Recalculate the normals of that component to point outwards."},
    {"CAGE_FAR_FROM_ORIGIN", kE,
     "The model is so far from the origin that floats are too coarse for the cage's cells.",
     "Move the model to the origin before the export; place it by its pose in the game."},
    {"CAGE_HOLE_CLOSED", kW, "The surface is open; the winding number closed it for the cage.",
     "Close the holes if the inside is not what you mean."},
    {"CAGE_NOT_ENCLOSED", kE, "The lattice cage does not strictly enclose the surface.",
     "Report the model; another --tets, --cell or --lattice may avoid it."},
    {"CAGE_NOT_FITTED", kW,
     "The cage keeps the shape of the lattice, because no fit passed the proof.",
     "Report the model: a fit should have passed."},
    {"CAGE_OVERLAP", kW, "Parts of the solid overlap; the overlap counts once.",
     "Unite the parts if the exact volume matters."},
    {"CAGE_PINCHED", kW, "The cage's boundary touches itself at an edge or a node.",
     "None needed to simulate; another --cell or --tets avoids it."},
    {"CAGE_SHELL", kW, "The surface encloses next to no volume; the cage is a shell around it.",
     "Thicken the surface, give its --thickness, or accept that it weighs what its cage would."},
    {"CAGE_TETGEN_FAILED", kE, "TetGen crashed, or left no tets that fill the surface.",
     "Use --mesher lattice; parts that nearly touch are a common cause."},
    {"CAGE_TETGEN_LIMIT", kE, "TetGen reached its time or memory limit.",
     "Raise --tetgen-time or --tetgen-memory, or ask for fewer tets (--ratio, --max-volume)."},
    {"CAGE_TETGEN_MISSING", kE, "The program tetgen cannot be run.",
     "Install it (Debian: tetgen), name it by --tetgen, or use --mesher lattice."},
    {"CAGE_TETGEN_REFUSED", kE, "Conforming tets cannot fill this surface.",
     "Close the holes and separate surfaces that meet, or use --mesher lattice."},
    {"CAGE_TETS_NOT_REACHED", kW, "The number of tets asked for was not met.",
     "Choose a number nearer the one reached, or give --cell."},
    {"CAGE_TOO_FEW_TETS", kW, "The model's parts need more tets than were asked for.",
     "Raise --tets to the number given, or let parts share tets with --join."},
    {"CAGE_TOO_FINE", kE,
     "The cage would have more than 20 million tets, or its lattice 4 billion.",
     "Choose larger cells or fewer tets; delete parts that lie far from the model."},
    {"CDG_NOT_SIMPLIFIED", kW,
     "The collision surface was not simplified: the tets do not hold it or its copy.",
     "Choose other tets, or leave out --collision-triangles."},
    {"CDG_OUTSIDE", kW,
     "The tets do not contain the whole surface, so it cannot be the collision surface.",
     "With --embed, the boundary of the tets replaces it; --mesher lattice contains all of it."},
    {"CDG_TORN", kW, "The collision surface has a slit where strands of the cage part.",
     "Another --tets or --cell usually avoids it."},
    {"CDG_TRIANGLES_NOT_REACHED", kW,
     "The collision surface could not be simplified to the number of triangles asked for.",
     "Raise --collision-distance, or accept the number reached."},
    {"DEPFILE_INCOMPLETE", kW, "The depfile leaves out names with line ends, which it cannot hold.",
     "Rename the files, else changes to them start no bake."},
    {"EMBED_OUTSIDE", kW, "Vertices of the render mesh lie far outside the tets.",
     "Check position, --unit and --up of both files; such vertices follow the nearest tet."},
    {"FILE_COLLISION", kE, "The collision surface breaks one of its invariants.",
     "Bake the source again."},
    {"FILE_CONTENT_HASH", kE, "The content hash does not match the bytes.",
     "The file was changed after the bake: bake again."},
    {"FILE_COUNTS", kE, "Section sizes disagree.", "Bake the source again."},
    {"FILE_EMBEDDING", kE, "Embedded vertices do not reproduce their rest positions.",
     "Bake the source again."},
    {"FILE_FACTOR", kE, "The factor does not belong to the matrix of the rest data.",
     "Bake the source again."},
    {"FILE_INDEX", kE, "An index points outside its section.", "Bake the source again."},
    {"FILE_LAYOUT", kE, "The file's records are laid out differently.",
     "Bake with the tool that belongs to this runtime."},
    {"FILE_NON_FINITE", kE, "A number is infinite or not a number.", "Bake the source again."},
    {"FILE_NOT_ENCLOSED", kE, "The lattice cage does not strictly enclose the surface.",
     "Bake the source again; report the model if that does not help."},
    {"FILE_NOT_PLUSH", kE, "The file is not a .plush file.", "Give the output of `plush bake`."},
    {"FILE_ORDER", kE, "Entries are not in their documented order.", "Bake the source again."},
    {"FILE_RANGE", kE, "A number is outside its documented range.", "Bake the source again."},
    {"FILE_REST_DATA", kE, "Rest data disagree with the cage's geometry.",
     "Bake the source again."},
    {"FILE_SOURCE", kE, "The file does not come from this source mesh.",
     "Give the source the file was baked from, or bake again."},
    {"FILE_STATIC_MESH", kE, "The static mesh breaks one of its invariants.",
     "Bake the source again."},
    {"FILE_STRUCTURE", kE, "The file's container is broken.", "Bake the source again."},
    {"FILE_TRUNCATED", kE, "The file ends early.", "Copy or bake the file again."},
    {"FILE_UNREFERENCED_NODE", kE, "A cage node belongs to no tet.", "Bake the source again."},
    {"FILE_VERSION", kE, "The file has another format version.",
     "Bake the source again with this version."},
    {"IMPORT_ATTRIBUTE", kW, "An attribute of vertices could not be read.",
     "Export the file again; a glTF validator tells more."},
    {"IMPORT_CRASHED", kE, "The importer crashed on this file.",
     "Open the file in a modelling tool and save it again, or as glTF."},
    {"IMPORT_EXTENSION", kW, "An extension that changes geometry was not applied.",
     "Save the file without this extension."},
    {"IMPORT_FAILED", kE, "The importer refused this file.",
     "Check the file in a modelling tool; save it as glTF, OBJ or PLY, tets as .msh or .vtk."},
    {"IMPORT_FILE_MISSING", kW, "A file that the source names could not be read.",
     "Put the file where the source expects it, or correct the name."},
    {"IMPORT_LEFT_OUT", kI, "The importer left out what is no surface of the model.",
     "None needed."},
    {"IMPORT_LIMIT", kE, "The importer reached its time or memory limit.",
     "Simplify the mesh, or raise --import-time or --import-memory."},
    {"IMPORT_UNSUPPORTED", kE, "No importer reads this type of file, or what it requires.",
     "Save the mesh as glTF, OBJ or PLY, tets as .msh 4.1 or legacy .vtk."},
    {"MATERIAL_INVALID", kE, "The material map cannot be read.", "Correct the map."},
    {"MATERIAL_UNMATCHED", kW, "The source has no material with a name that the map gives.",
     "Correct the name; `plush check --json` lists those of the source."},
    {"MESH_CELL_DROPPED", kW, "Solid cells other than tetrahedra were left out.",
     "Write the mesh with tetrahedra only."},
    {"MESH_CELL_SKIPPED", kI, "Points, lines and faces of a tet source were ignored.",
     "None needed."},
    {"MESH_COMPONENTS", kI, "The surface has several separate components.",
     "None needed; in a lattice cage each moves on its own, unless --join is given."},
    {"MESH_DEGENERATE_TRIANGLE", kW, "Triangles have no area and were left out.",
     "Merge vertices by distance, or dissolve degenerate faces."},
    {"MESH_DUPLICATE_FACE", kW, "Faces have the same corners; one of each was kept.",
     "Delete the duplicate faces."},
    {"MESH_EMPTY", kE, "No triangle with finite corners and positive area is left.",
     "Export a mesh with faces."},
    {"MESH_FAR_FROM_ORIGIN", kW, "Floats are coarser there than 1/10,000 of the model's size.",
     "Move the model to the origin before the export; place it by its pose in the game."},
    {"MESH_INCONSISTENT_ORIENTATION", kW, "Neighbouring triangles face opposite sides.",
     "Recalculate the normals to point outwards."},
    {"MESH_INDEX_INVALID", kW, "Triangles with corners that do not exist were dropped.",
     "Export the mesh again; the file's indices are broken."},
    {"MESH_NON_FINITE", kW, "Triangles with infinite or not-a-number corners were dropped.",
     "Export the mesh again; a modifier or script made invalid coordinates."},
    {"MESH_NON_MANIFOLD_EDGE", kW, "Edges belong to more than two triangles.",
     "Separate the sheets that meet there, or accept the joint."},
    {"MESH_OPEN_BOUNDARY", kW, "Edges belong to one triangle only: the surface has holes.",
     "Fill the holes, or accept that the winding number closes them."},
    {"MESH_SELF_INTERSECTION", kW, "Triangles pass through each other.",
     "Unite the parts, or move them apart."},
    {"MESH_STRAY_VERTEX", kW, "Vertices lie far away from all others.",
     "Delete the vertices at the places given, or move them back."},
    {"MESH_TET_INVALID", kW,
     "Tetrahedra of the source are flat, repeated or out of range and were "
     "dropped.",
     "Write the tet mesh again."},
    {"MESH_TET_ORIENTED", kI, "Tetrahedra of the source were turned to positive orientation.",
     "None needed."},
    {"MESH_UNREFERENCED_VERTEX", kI, "Vertices that no triangle or tet uses were left out.",
     "None needed; delete loose vertices to save space."},
    {"PIN_INVALID", kE, "A pin region cannot be read.", "Correct the region in the side-car."},
    {"PIN_LOOSE", kI, "The nodes that a box or sphere of a scene pins are on a line.",
     "None if the body should turn about them; otherwise enlarge it, or bake a pin region."},
    {"PIN_UNMATCHED", kW, "A pin region matches no node.",
     "By name: correct it, or raise the region above its threshold. By box or sphere: move it, or "
     "enlarge it as the message says; `plush info` prints the model's box."},
    {"SEAMS_WELDED", kI, "Vertices at the same position were joined to find the topology.",
     "None needed; render vertices stay as imported."},
    {"SIM_BODY_FROZEN", kE, "A body's state became infinite and it was stopped.",
     "Take smaller steps, a softer material or a lighter load."},
    {"SIM_ENERGY_GAINED", kW, "The simulation gained energy that nothing supplied.",
     "Take smaller steps or a softer material; look at the frames around the step named."},
    {"STATIC_FRONT", kI,
     "The mesh does not bound a volume, so its triangles hold only what comes from the front.",
     "None needed for terrain; give --sides to choose, or close the mesh."},
    {"STATIC_NOT_CLOSED", kW, "The mesh of a solid collider does not bound a volume.",
     "Close its holes and turn its triangles outwards; near a hole, inside and outside are "
     "confused."},
    {"UNIT_SUSPECT", kW, "The model is smaller than 1 cm, larger than 20 m or heavier than 2 t.",
     "Give --unit or --scale, or the --density if the size is right."},
});

}  // namespace

std::span<const FindingCode> FindingCodes() { return kCodes; }

const FindingCode* FindFindingCode(std::string_view code) {
  const auto it = std::ranges::lower_bound(kCodes, code, {}, &FindingCode::code);
  return it != kCodes.end() && it->code == code ? &*it : nullptr;
}

void FindingList::Add(const std::string& code, uint64_t count, std::string message,
                      std::vector<Place> places) {
  const FindingCode* row = FindFindingCode(code);
  if (row == nullptr) {
    std::fprintf(stderr, "plush: internal error: finding code '%s' is not in the table\n",
                 code.c_str());
    std::abort();
  }
  if (places.size() > kMaxPlaces) places.resize(kMaxPlaces);
  findings_.push_back({code, row->severity, count, std::move(message), std::move(places),
                       std::string(row->remedy)});
}

bool FindingList::Has(const std::string& code) const {
  return std::ranges::count(findings_, code, &Finding::code) > 0;
}

size_t FindingList::CountOf(Severity severity) const {
  return static_cast<size_t>(std::ranges::count(findings_, severity, &Finding::severity));
}

bool FindingList::HasSeverity(Severity severity) const { return CountOf(severity) > 0; }

const char* SeverityName(Severity severity) {
  constexpr const char* kNames[] = {"error", "warning", "info"};
  return kNames[static_cast<size_t>(severity)];
}

}  // namespace plush::tools
