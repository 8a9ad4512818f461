#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Drops the samples and exports animated GLB files. Checks these and the samples with Khronos' glTF
# validator (npm package gltf-validator, fetched into WORK_DIR).
#
# usage: tests/validate_gltf.sh BUILD_DIR WORK_DIR
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
plush=$(realpath "$1")/tools/plush
mkdir -p "$2"
cd "$2"

[ -d node_modules/gltf-validator ] ||
  npm install --silent --no-audit --no-fund gltf-validator@2.0.0-dev.3.10
files=("$root"/samples/models/*.glb)
for model in "$root"/samples/models/*.glb; do
  name=$(basename "$model" .glb)
  "$plush" bake "$model" -o "$name.plush" -q
  "$plush" simulate "$name.plush" --export "$name.animated.glb" -q
  files+=("$PWD/$name.animated.glb")
done
cat >validate.js <<'SCRIPT'
const fs = require('fs');
const validator = require('gltf-validator');
(async () => {
  let errors = 0;
  for (const file of process.argv.slice(2)) {
    const report = await validator.validateBytes(new Uint8Array(fs.readFileSync(file)));
    const n = report.issues;
    console.log(`${file}: ${n.numErrors} errors, ${n.numWarnings} warnings, ${n.numInfos} infos`);
    for (const m of report.issues.messages.filter(m => m.severity === 0).slice(0, 10)) {
      console.log(`  ${m.code} ${m.pointer}: ${m.message}`);
    }
    errors += n.numErrors;
  }
  process.exit(errors ? 1 : 0);
})();
SCRIPT
node validate.js "${files[@]}"
