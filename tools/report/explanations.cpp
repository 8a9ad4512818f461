// SPDX-License-Identifier: MIT
// The explanations, in the order of the table of findings. Menus are those of Blender 3.4 to 4.2
// and Maya 2022 to 2024.
#include "report/explanations.h"

#include "base/finding.h"

#include <algorithm>
#include <array>

namespace plush::tools {
namespace {

constexpr std::string_view kNoTrust =
    "The runtime trusts no byte of a file. It refuses to open one whose parts contradict each "
    "other.";
constexpr std::string_view kRecalculate =
    "In Edit Mode select all (A), then Mesh > Normals > Recalculate Outside (Shift+N).";
constexpr std::string_view kConform =
    "Mesh Display > Conform, then Mesh Display > Reverse if all normals point inwards.";
constexpr std::string_view kFill =
    "Select > Select All by Trait > Non Manifold shows the rims; Mesh > Clean Up > Fill Holes "
    "closes them.";
constexpr std::string_view kFillInMaya =
    "Mesh > Fill Hole; Mesh Display > Polygon Count and Display > Polygons > Border Edges show the "
    "rims.";
constexpr std::string_view kUnite =
    "Add a Boolean modifier with operation Union, or a Remesh modifier (Voxel), and apply it.";
constexpr std::string_view kUniteInMaya = "Mesh > Booleans > Union, or Mesh > Remesh.";
constexpr std::string_view kDeleteLoose = "In Edit Mode: Mesh > Clean Up > Delete Loose.";
constexpr std::string_view kDeleteLooseInMaya =
    "Mesh > Cleanup, or select the vertices and press Delete.";
constexpr std::string_view kToOrigin =
    "Move the object to the origin (Alt+G), then Object > Apply > All Transforms.";
constexpr std::string_view kToOriginInMaya =
    "Set its translation to 0 in the Channel Box, then Modify > Freeze Transformations.";

constexpr auto kExplanations = std::to_array<Explanation>({
    {"BAKE_TIME",
     "A limit keeps one model from blocking a build of thousands. The message names the stage that "
     "took too long; batch sets a limit by itself.",
     "Add a Decimate modifier, or separate the object into several.",
     "Mesh > Reduce, or Mesh > Separate.", "A scan of 20 million triangles in a batch."},
    {"BATCH_UNMATCHED",
     "A pattern without a file bakes nothing. Most often a folder was renamed or a name has a "
     "typo.",
     "", "", "{\"inputs\": [\"props/*.gltf\"]} in a project whose files end in .glb"},
    {"CACHE_DAMAGED",
     "Entries are checked before use, so a damaged one costs a bake and changes no result.", "", "",
     "A cache on a disk that flips bits."},
    {"CACHE_NOT_WRITTEN",
     "The asset is baked and written, but the next run bakes it again instead of copying it.", "",
     "", "A cache on a full or read-only disk."},
    {"CAGE_CAVITY",
     "A cavity takes volume, and so mass, out of the body. A ball with a cavity weighs less than a "
     "full one.",
     "To remove it, select the inner component (L over it) and delete it. To fill it, recalculate "
     "the normals of that component outwards.",
     "Mesh > Separate, then delete or reverse the inner shell.",
     "A tennis ball: an outer sphere, and an inner one whose normals point at the middle."},
    {"CAGE_COMPONENT_FLIPPED",
     "A component that faces inwards encloses a negative volume. It was turned for the cage, but "
     "the render mesh still faces inwards and may look black in the game.",
     kRecalculate, kConform, "An eye that was mirrored by a negative scale without applying it."},
    {"CAGE_FAR_FROM_ORIGIN",
     "A float has 24 bits. At 10 km its steps are 1 mm, which is too coarse to place the corners "
     "of small tets.",
     kToOrigin, kToOriginInMaya,
     "A prop that was exported at its place in a level, 20 km from the origin."},
    {"CAGE_HOLE_CLOSED",
     "A body needs an inside. What counts as inside near a hole was decided by the winding number, "
     "which closes a hole smoothly.",
     kFill, kFillInMaya, "A vase without a bottom, a shirt, a head that ends at the neck."},
    {"CAGE_NOT_ENCLOSED",
     "The tets carry the surface. A triangle outside them would be left behind when the body "
     "deforms.",
     "", "", "No model is known: the lattice encloses by construction."},
    {"CAGE_NOT_FITTED",
     "The cage keeps the steps of the lattice. It encloses the surface, but has more empty volume "
     "than it could have.",
     "", "", "No model is known that causes it."},
    {"CAGE_OVERLAP",
     "Two parts in the same place move as one there, and their common volume has mass once.",
     kUnite, kUniteInMaya, "A character whose arm is a capsule pushed into the torso."},
    {"CAGE_PINCHED",
     "Two parts of the cage that meet at an edge or a node only are joined as by a hinge.",
     "Thicken the thin place, or separate the parts there.",
     "Thicken the thin place, or separate the parts there.", "Two cubes that touch along an edge."},
    {"CAGE_SHELL",
     "The mass of a body is density times its volume. A sheet has none, so its mass comes from the "
     "cells of the cage that it passes through.",
     "Add a Solidify modifier with the real thickness and apply it.",
     "Edit Mesh > Extrude with the real thickness.", "A flag: one layer of triangles."},
    {"CAGE_TETGEN_FAILED",
     "TetGen needs exact, closed, separate surfaces. It gives up if facets nearly coincide.",
     kUnite, kUniteInMaya, "Two plates 1e-9 m apart."},
    {"CAGE_TETGEN_LIMIT", "Refinement near sharp angles can go on for very long.",
     "Simplify the mesh: add a Decimate modifier.", "Mesh > Reduce.",
     "A needle of a cone with an angle of 0.1 degrees."},
    {"CAGE_TETGEN_MISSING",
     "TetGen is a separate program under another licence, and not part of Plush.", "", "",
     "plush bake bear.glb -o bear.plush --mesher tetgen, before apt-get install tetgen."},
    {"CAGE_TETGEN_REFUSED",
     "Tets that end at the surface exist only if the surface bounds a volume and does not pass "
     "through itself.",
     kUnite, kUniteInMaya, "A character whose clothes pass through the skin."},
    {"CAGE_TETS_NOT_REACHED",
     "A lattice comes in steps: halving a cell gives eight. Some numbers of tets lie between two "
     "steps.",
     "", "", "plush bake cube.obj -o cube.plush --tets 7"},
    {"CAGE_TOO_FEW_TETS", "Each part that moves on its own needs tets of its own.",
     "Join parts that may move together: select them, Ctrl+J, then unite them.",
     "Mesh > Combine, then Mesh > Booleans > Union.",
     "A bag of 200 marbles, baked with --tets 100."},
    {"CAGE_TOO_FINE",
     "The number of cells grows with the cube of the model's size. A speck far away makes the "
     "model large.",
     "Select > Select All by Trait > Loose Geometry finds specks; delete them.",
     "Select the far vertices in the Outliner's shape and delete them.",
     "A bear of 0.3 m and a stray triangle 100 m away, with --cell 0.01."},
    {"CDG_NOT_SIMPLIFIED",
     "Only a surface that lies inside the tets can be simplified there. The body collides with "
     "every "
     "triangle, which costs time in a crowd.",
     "", "",
     "plush bake tets.msh --embed head.glb --collision-triangles 500, where the ears reach out "
     "of the tets."},
    {"CDG_OUTSIDE",
     "The collision surface is carried by the tets. A point outside all tets has nothing to "
     "follow.",
     "Enlarge the tet mesh, or shrink the surface into it.",
     "Enlarge the tet mesh, or shrink the surface into it.",
     "plush bake tets.msh --embed head.glb, where the ears reach out of the tets."},
    {"CDG_TORN", "Through a slit in the collision surface, thin things may enter the body.", "", "",
     "A model whose cage parts into two strands inside one triangle."},
    {"CDG_TRIANGLES_NOT_REACHED",
     "Fewer triangles cannot follow the surface within the distance allowed, or would leave the "
     "cage. "
     "The body collides with more triangles than asked for.",
     "", "", "A comb of a hundred teeth, baked with --collision-triangles 200."},
    {"DEPFILE_INCOMPLETE",
     "Make and Ninja end a name at a line end. They do not see that the file changes.", "", "",
     "A source that was saved as 'bear.obj' with a line end behind it."},
    {"EMBED_OUTSIDE",
     "A vertex outside all tets follows the nearest one by extrapolation, which exaggerates its "
     "motion.",
     "Check that both files have the same scale and axes: Object > Apply > All Transforms before "
     "the export.",
     "Check that both files have the same units: Windows > Settings/Preferences > Preferences > "
     "Settings.",
     "Tets in millimetres around a mesh in metres."},
    {"FILE_COLLISION", kNoTrust, "", "", "A file whose patches were edited by hand."},
    {"FILE_CONTENT_HASH", kNoTrust, "", "",
     "A download that flipped a bit, or an editor that changed line ends."},
    {"FILE_COUNTS", kNoTrust, "", "", "A file with 388 tets and 387 tet masses."},
    {"FILE_EMBEDDING", kNoTrust, "", "", "A file whose weights were scaled."},
    {"FILE_FACTOR", kNoTrust, "", "", "A file whose material was edited without a new bake."},
    {"FILE_INDEX", kNoTrust, "", "", "A tet that names node 500 of 143."},
    {"FILE_LAYOUT",
     "The runtime maps records into memory as they are. It cannot read those of a build with other "
     "records.",
     "", "", "A file of a tool with 8-lane blocks in a runtime with 16-lane blocks."},
    {"FILE_NON_FINITE", kNoTrust, "", "", "A node at (nan, 0, 0)."},
    {"FILE_NOT_ENCLOSED", kNoTrust, "", "",
     "A node of the cage that was moved inwards after the bake."},
    {"FILE_NOT_PLUSH", "The first bytes of a .plush file say what it is. These do not.", "", "",
     "plush info bear.glb"},
    {"FILE_ORDER", kNoTrust, "", "", "Regions that are not sorted by name."},
    {"FILE_RANGE", kNoTrust, "", "", "A Poisson ratio of 0.7."},
    {"FILE_REST_DATA", kNoTrust, "", "", "Masses that do not sum to density times volume."},
    {"FILE_SOURCE",
     "An asset that comes from another version of the mesh looks right until the first texture or "
     "pin is off.",
     "", "", "plush validate bear.plush --source bear_v2.glb"},
    {"FILE_STATIC_MESH", kNoTrust, "", "", "A triangle whose neighbour does not name it back."},
    {"FILE_STRUCTURE", kNoTrust, "", "", "A table whose offset points behind the end of the file."},
    {"FILE_TRUNCATED",
     "Part of the file is missing, most often because a copy was cut off or the disk was full.", "",
     "", "A download that stopped half-way."},
    {"FILE_UNREFERENCED_NODE", kNoTrust, "", "", "A node left over from another mesh."},
    {"FILE_VERSION",
     "While the version is 0.N, each N has its own format, and the runtime reads its own only.", "",
     "", "A file that version 0.6 baked, opened by 0.7."},
    {"IMPORT_ATTRIBUTE",
     "The mesh bakes without the attribute. Pins or colours that need it will miss it.",
     "Export the mesh again, with the attribute.", "Export the mesh again, with the colour set.",
     "A glTF accessor of COLOR_0 that has fewer elements than there are vertices."},
    {"IMPORT_CRASHED",
     "The importer runs as a process of its own, so that a broken file cannot harm the bake. It "
     "ended by a signal.",
     "Open the file and export it as glTF: File > Export > glTF 2.0.",
     "Open the file and export it as glTF or OBJ: File > Export All.",
     "An .fbx cut off in the middle of a record."},
    {"IMPORT_EXTENSION",
     "The file says that it can do without the extension, so it bakes as it is without it. The "
     "surface may look different elsewhere.",
     "Apply all modifiers, then File > Export > glTF 2.0 without the extension.",
     "Export the mesh without the extension.",
     "A glTF file with an optional extension that deforms its meshes."},
    {"IMPORT_FAILED", "Without a mesh there is nothing to bake.",
     "Open the file and export it as glTF: File > Export > glTF 2.0.",
     "Open the file and export it as glTF or OBJ: File > Export All.",
     "A .glb whose buffer is shorter than its accessors say."},
    {"IMPORT_FILE_MISSING",
     "The mesh bakes, but materials or textures that the file describes elsewhere are missing.",
     "File > External Data > Report Missing Files names them.",
     "Windows > General Editors > File Path Editor names them.",
     "An .obj that names hat.mtl, copied without it."},
    {"IMPORT_LEFT_OUT",
     "Points, lines and support objects have no surface that could deform. The rest is complete.",
     "", "", "An .obj with a few loose edges."},
    {"IMPORT_LIMIT", "Limits keep one broken or gigantic file from blocking a build of thousands.",
     "Add a Decimate modifier, or export only the selected object.",
     "Mesh > Reduce, or File > Export Selection.", "A scan of 200 million triangles."},
    {"IMPORT_UNSUPPORTED",
     "The type of a file follows from its ending and its first bytes. No importer knows this one.",
     "File > Export > glTF 2.0.", "File > Export All as OBJ or glTF.", "plush bake notes.txt"},
    {"MATERIAL_INVALID",
     "The map gives the stiffness and density of parts by their material's name. Nothing is "
     "guessed if it is wrong.",
     "", "", "{\"fur\": {\"young\": -1}}"},
    {"MATERIAL_UNMATCHED",
     "The part keeps the default material. It will be as stiff and heavy as the rest.",
     "Material Properties lists the names of the materials; rename one or correct the map.",
     "The Hypershade lists the names of the materials; rename one or correct the map.",
     "The map names 'Fur', the file has 'fur.001'."},
    {"MESH_CELL_DROPPED",
     "Plush simulates tetrahedra only. Hexahedra, wedges and pyramids leave gaps.", "", "",
     "A .vtk file of hexahedra from a finite element program."},
    {"MESH_CELL_SKIPPED",
     "Gmsh writes the points, curves and surfaces of the geometry beside its tets. They carry no "
     "volume.",
     "", "", "Any .msh file with physical groups of surfaces."},
    {"MESH_COMPONENTS",
     "Separate components move on their own: buttons fall off a shirt unless they share tets with "
     "it.",
     "To join them, unite them: Add a Boolean modifier with operation Union, or a Remesh modifier "
     "(Voxel), and apply it.",
     "To join them, unite them: Mesh > Booleans > Union, or Mesh > Remesh.",
     "A bear whose eyes are two balls of their own."},
    {"MESH_DEGENERATE_TRIANGLE",
     "A triangle without area has no normal, and no side to push things to.",
     "In Edit Mode: Mesh > Merge > By Distance, then Mesh > Clean Up > Degenerate Dissolve.",
     "Mesh > Cleanup with 'Faces with zero geometry area' and 'Edges with zero length'.",
     "Three corners on a line."},
    {"MESH_DUPLICATE_FACE", "Equal faces count twice in volumes and winding numbers.",
     "In Edit Mode: Mesh > Merge > By Distance; then delete one of the faces.",
     "Mesh > Cleanup with 'Lamina faces'.",
     "A mirrored half that keeps the faces on the mirror plane."},
    {"MESH_EMPTY", "Without triangles there is no body.",
     "Check that the object is visible and 'Selected Objects' in the export matches the selection.",
     "Check that the mesh is selected if 'Export Selection' is used.",
     "A file with a camera and a light."},
    {"MESH_FAR_FROM_ORIGIN",
     "Far from the origin, the steps of floats become visible: the surface trembles and bakes with "
     "less accuracy.",
     kToOrigin, kToOriginInMaya, "A prop of 0.3 m at 1 km from the origin."},
    {"MESH_INCONSISTENT_ORIENTATION",
     "Neighbours that face opposite sides make the inside of one the outside of the other. The "
     "winding number decides by majority.",
     kRecalculate, kConform, "A cube with one face turned inside out."},
    {"MESH_INDEX_INVALID", "A triangle whose corner does not exist cannot be drawn or baked.",
     "Import the file and export it again.", "Import the file and export it again.",
     "An .obj with 8 vertices and the face f 1 2 9."},
    {"MESH_NON_FINITE", "One infinite vertex makes the box, the cage and every sum infinite.",
     "In Edit Mode: Mesh > Clean Up > Delete Loose after deleting the faces at the places given.",
     "Delete the faces at the places given, then Mesh > Cleanup.",
     "A script that divides by a weight of zero."},
    {"MESH_NON_MANIFOLD_EDGE",
     "More than two sheets at an edge leave no single inside. The cage is right, but the parts "
     "hold together there.",
     "Select > Select All by Trait > Non Manifold shows them; split with Mesh > Split > Faces by "
     "Edges.",
     "Mesh > Cleanup with 'Nonmanifold geometry'.",
     "Two boxes that share an edge, a fin that grows out of a closed body."},
    {"MESH_OPEN_BOUNDARY",
     "A surface with a hole has no certain inside. Its volume, and so its mass, depend on how the "
     "hole is closed.",
     kFill, kFillInMaya, "A cup without a bottom."},
    {"MESH_SELF_INTERSECTION",
     "Where parts pass through each other, the inside counts once and they move together.", kUnite,
     kUniteInMaya, "A sleeve that passes through the arm."},
    {"MESH_STRAY_VERTEX",
     "A vertex far away makes the model look large: cells, tolerances and the camera follow its "
     "box.",
     kDeleteLoose, kDeleteLooseInMaya, "A forgotten vertex at (1000, 0, 0) in a bear of 0.3 m."},
    {"MESH_TET_INVALID",
     "A flat or repeated tet has no volume to resist, and breaks the factor of the solver.", "", "",
     "A tet with four nodes in a plane."},
    {"MESH_TET_ORIENTED",
     "Some programs count the nodes of a tet the other way round. They were turned; nothing else "
     "changed.",
     "", "", "A .vtk file whose tets have negative volume."},
    {"MESH_UNREFERENCED_VERTEX", "Loose vertices take space in the file and are never drawn.",
     kDeleteLoose, kDeleteLooseInMaya, "Vertices left over after deleting 'only faces'."},
    {"PIN_INVALID",
     "A region that cannot be read would leave the body to fall. Nothing is guessed.", "", "",
     "{\"regions\": [{\"name\": \"hand\", \"sphere\": {\"radius\": -1}}]}"},
    {"PIN_LOOSE",
     "A body that is held by one node, or by several on a line, swings about them like a pendulum.",
     "", "", "A box of a scene in which the cage has one node."},
    {"PIN_UNMATCHED", "The body is not held there: it falls, or flaps.",
     "Check the name of the vertex group or attribute, and its weights in Weight Paint mode.",
     "Check the name of the colour set or joint, and its weights with Skin > Paint Skin Weights.",
     "A region by the joint 'hand_L' of a file with 'Hand.L'."},
    {"SEAMS_WELDED",
     "Render meshes repeat vertices where UVs or normals break. The body must hold together there.",
     "", "", "Every textured model: a cube has 24 render vertices and 8 corners."},
    {"SIM_BODY_FROZEN",
     "Numbers that became infinite would spread to everything the body touches. It was stopped "
     "instead.",
     "", "", "A force of 1e30 N on one node."},
    {"SIM_ENERGY_GAINED", "Energy from nowhere shows as trembling, or as a body that jumps.", "",
     "", "A body of 1e8 Pa, 33 ms steps, pressed between two walls that close."},
    {"STATIC_FRONT",
     "Bodies pass from behind. For terrain that is right; a wall of one layer needs --sides both.",
     "To make a solid, close the mesh: Select > Select All by Trait > Non Manifold shows the rims; "
     "Mesh > Clean Up > Fill Holes closes them.",
     "To make a solid, close the mesh: Mesh > Fill Hole; Mesh Display > Polygon Count and Display "
     "> Polygons > Border Edges show the rims.",
     "A terrain: one layer of triangles that face up."},
    {"STATIC_NOT_CLOSED",
     "A solid pushes out what is inside. Near a hole, inside is not certain, and bodies may be "
     "pushed the wrong way.",
     kFill, kFillInMaya, "A house without a floor, baked with --sides solid."},
    {"UNIT_SUSPECT",
     "The commonest mistake: centimetres read as metres make a bear of 30 m, which falls ten times "
     "too slowly for its looks and weighs a million times too much.",
     "Scene Properties > Units shows the scale; Object > Apply > Scale before the export.",
     "Windows > Settings/Preferences > Preferences > Settings > Working Units, and the export's "
     "scale factor.",
     "A bear of 30 m: it was modelled in centimetres."},
});

}  // namespace

std::span<const Explanation> Explanations() { return kExplanations; }

std::string ExplanationText(std::string_view code) {
  const FindingCode* row = FindFindingCode(code);
  const auto it = std::ranges::find(kExplanations, code, &Explanation::code);
  if (row == nullptr || it == kExplanations.end()) return "";
  const auto part = [](const char* title, std::string_view text) {
    return text.empty() ? std::string()
                        : "\n" + std::string(title) + "\n  " + std::string(text) + "\n";
  };
  std::string text = std::string(code) + " (" + SeverityName(row->severity) + ")\n";
  text += "  " + std::string(row->meaning) + "\n";
  text += part("Why it matters", it->why);
  text += part("What to do", row->remedy);
  text += part("In Blender", it->blender);
  text += part("In Maya", it->maya);
  text += part("Example", it->example);
  return text;
}

}  // namespace plush::tools
