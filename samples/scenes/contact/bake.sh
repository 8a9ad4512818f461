# SPDX-License-Identifier: MIT
# For the scripts of this folder, which name it with `source` from the root of the tree: builds the
# tools, sets `build`, `here` and `out`, bakes the shapes into `out` and copies the scenes there.
here=samples/scenes/contact
build=build/release
[ -f "$build/build.ninja" ] || tools/setup.sh build test
[ -f "$build/build.ninja" ] || cmake --preset release
cmake --build "$build" --target plush plush_contact_table >/dev/null
out=out/contact
mkdir -p "$out"
cp "$here"/*.json "$out/"

# usage: bake SOURCE OPTION...
bake() {
  local name
  name=$(basename "${1%.*}")
  "$build/tools/plush" bake "$1" -o "$out/$name.plush" "${@:2}" --keep-unchanged -q
}

# The models are as soft as in samples/run.sh.
bake_shapes() {
  bake samples/models/bear.glb --tets 400 --young 4e4 --damping 0.15
  bake samples/models/duck.glb --tets 450 --young 2e4 --damping 0.15
  bake samples/models/octopus.glb --tets 900 --young 6e4 --damping 0.15
  bake $here/nest.obj
  bake $here/ring.obj --young 1e5 --damping 0.15
  bake $here/cube.obj --tets 100 --young 1e7 --damping 0.03 --friction 0.5
  bake $here/funnel.obj --static
}

# usage: bake_models FOLDER
bake_models() {
  bake "$1/armadillo_10k.obj" --scale 0.7 --tets 450 --young 4e4 --damping 0.15
  bake "$1/horse_10k.obj" --up z --scale 4 --tets 450 --young 2e4 --damping 0.15
  bake "$1/cheburashka_13k.obj" --scale 0.8 --tets 450 --young 4e4 --damping 0.15
}
