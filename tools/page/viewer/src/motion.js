// SPDX-License-Identifier: MIT
// The simulation of the page: positions of all bodies, lines of colliders and contacts by frame.
import { page, readPositions } from './data.js';

export class Motion {
  constructor() {
    this.json = page.motion;
    const blob = page.models.length;
    this.numFrames = this.json.steps.length;
    // Read when they are first shown: the first picture does not wait for them.
    const read = (ref) => { let made; return () => (made ??= readPositions(blob, ref)); };
    this.bodies = this.json.bodies.map((body) => ({ ...body, track: read(body.nodes) }));
    this.lines = read(this.json.lines.ends);
    this.contactPositions = read(this.json.contacts.positions);
  }

  time(frame) { return this.json.steps[frame] * this.json.dt; }

  // Points of a track (points x frames) at `frame`, in an array of its own for each call.
  at(track, numFrames, frame) {
    const points = new Float32Array(numFrames ? track.length / numFrames : 0);
    for (let p = 0; p < points.length / 3; ++p) {
      const from = 3 * (p * numFrames + Math.min(frame, numFrames - 1));
      points[3 * p] = track[from]; points[3 * p + 1] = track[from + 1]; points[3 * p + 2] = track[from + 2];
    }
    return points;
  }

  nodesAt(body, frame) { return this.at(this.bodies[body].track(), this.numFrames, frame); }
  linesAt(frame) { return this.at(this.lines(), this.json.lines.frames, frame); }
  contactsAt(frame) {
    const { starts } = this.json.contacts;
    return this.contactPositions().subarray(3 * starts[frame], 3 * starts[frame + 1]);
  }

  // The frame nearest to a step from 1.
  frameOfStep(step) {
    const steps = this.json.steps;
    let nearest = 0;
    steps.forEach((s, i) => { if (Math.abs(s - step) < Math.abs(steps[nearest] - step)) nearest = i; });
    return nearest;
  }
}
