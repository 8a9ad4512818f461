// SPDX-License-Identifier: MIT
// Reads the data of the page: a JSON document, and arrays packed by packed_arrays.cpp.
import { MeshoptDecoder } from 'three/examples/jsm/libs/meshopt_decoder.module.js';

export const ready = MeshoptDecoder.ready;
export const page = JSON.parse(document.getElementById('data').textContent);

const blobs = new Map();
function blob(index) {
  if (!blobs.has(index)) {
    const text = atob(document.getElementById(`blob-${index}`).textContent);
    blobs.set(index, Uint8Array.from(text, (c) => c.charCodeAt(0)));
  }
  return blobs.get(index);
}

// The array's rows, as elements of `Type`.
export function read(index, ref, Type) {
  const target = new Uint8Array(ref.count * ref.stride);
  const source = blob(index).subarray(ref.at, ref.at + ref.size);
  MeshoptDecoder.decodeGltfBuffer(target, ref.count, ref.stride, source, ref.mode);
  return new Type(target.buffer);
}

// Quantised positions in metres (3 count x 1).
export function readPositions(index, ref) {
  const rows = read(index, ref, Uint16Array);
  const positions = new Float32Array(3 * ref.count);
  for (let i = 0; i < ref.count; ++i) {
    for (let k = 0; k < 3; ++k) positions[3 * i + k] = ref.low[k] + ref.step[k] * rows[4 * i + k];
  }
  return positions;
}
