// SPDX-License-Identifier: MIT
// The camera: mouse, touch and keys turn it, and it flies to places.
import * as THREE from 'three';
import { OrbitControls } from 'three/examples/jsm/controls/OrbitControls.js';

export class Eye {
  constructor(canvas, changed) {
    this.camera = new THREE.PerspectiveCamera(35, 1, 0.01, 100);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.addEventListener('change', changed);
    this.changed = changed;
    canvas.addEventListener('keydown', (event) => this.key(event));
  }

  key(event) {
    const turns = { ArrowLeft: [-0.15, 0], ArrowRight: [0.15, 0], ArrowUp: [0, -0.15], ArrowDown: [0, 0.15] };
    const zooms = { '+': 0.85, '=': 0.85, '-': 1.18 };
    const offset = this.camera.position.clone().sub(this.controls.target);
    if (turns[event.key]) {
      const s = new THREE.Spherical().setFromVector3(offset);
      s.theta += turns[event.key][0];
      s.phi = Math.min(3.1, Math.max(0.04, s.phi + turns[event.key][1]));
      offset.setFromSpherical(s);
    } else if (zooms[event.key]) offset.multiplyScalar(zooms[event.key]);
    else return;
    event.preventDefault();
    this.camera.position.copy(this.controls.target).add(offset);
    this.controls.update();
    this.changed();
  }

  // Looks at `target` from `direction` (of any length) so that a ball of `radius` fills the view.
  look(target, radius, direction) {
    const away = direction ? new THREE.Vector3(...direction) : this.camera.position.clone().sub(this.controls.target);
    const narrow = Math.min(1, this.camera.aspect);
    away.setLength(1.1 * radius / Math.sin(THREE.MathUtils.degToRad(17.5)) / narrow);
    this.controls.target.set(...target);
    this.camera.position.copy(this.controls.target).add(away);
    this.controls.update();
    this.changed();
  }

  // Sees what lies within `size` of what is shown, however near.
  reach(size) {
    this.camera.near = size / 300;
    this.camera.far = size * 100;
  }

  get text() {
    return [...this.camera.position, ...this.controls.target].map((x) => Number(x.toPrecision(5))).join(',');
  }
  set text(text) {
    const numbers = text.split(',').map(Number);
    if (numbers.length !== 6 || !numbers.every(Number.isFinite)) return;
    this.camera.position.set(...numbers.slice(0, 3));
    this.controls.target.set(...numbers.slice(3));
    this.controls.update();
  }
}
