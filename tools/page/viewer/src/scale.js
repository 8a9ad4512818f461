// SPDX-License-Identifier: MIT
// A ruler along the model's box, and a person of 1.7 m beside it.
import * as THREE from 'three';

// The largest of 1, 2, 5 times a power of ten that is at most `length`.
function niceLength(length) {
  const power = 10 ** Math.floor(Math.log10(length));
  return [5, 2, 1].map((n) => n * power).find((x) => x <= length * 1.0001);
}

export function makeRuler(low, high) {
  const length = niceLength(Math.max(...high.map((h, k) => h - low[k])) || 1);
  const points = [0, 0, 0, length, 0, 0];
  for (let i = 0; i <= 10; ++i) {
    const tall = i % 5 === 0 ? 0.06 : 0.03;
    points.push(length * i / 10, 0, 0, length * i / 10, tall * length, 0);
  }
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute('position', new THREE.Float32BufferAttribute(points, 3));
  const ruler = new THREE.LineSegments(geometry, new THREE.LineBasicMaterial({ color: 0xd55e00, depthTest: false }));
  ruler.position.set(low[0], low[1], high[2] + 0.05 * length);
  ruler.userData = { text: `${Number(length.toPrecision(4))} m`, end: [low[0] + length, low[1], high[2] + 0.05 * length] };
  return ruler;
}

export function makeFigure(low, high) {
  const figure = new THREE.Group();
  const material = new THREE.MeshLambertMaterial({ color: 0x8f8f8f });
  const add = (geometry, x, y) => { const mesh = new THREE.Mesh(geometry, material); mesh.position.set(x, y, 0); figure.add(mesh); };
  add(new THREE.SphereGeometry(0.11, 20, 14), 0, 1.59);
  add(new THREE.CapsuleGeometry(0.16, 0.38, 6, 16), 0, 1.1);
  for (const side of [-1, 1]) {
    add(new THREE.CapsuleGeometry(0.075, 0.7, 6, 12), side * 0.1, 0.425);
    add(new THREE.CapsuleGeometry(0.05, 0.55, 6, 12), side * 0.25, 1.05);
  }
  figure.position.set(high[0] + 0.5, low[1], (low[2] + high[2]) / 2);
  return figure;
}
