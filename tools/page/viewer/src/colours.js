// SPDX-License-Identifier: MIT
// Colours that the colour-blind can tell apart.
// Sources: Okabe, Ito. Color Universal Design. 2008; viridis by Smith and van der Walt, sampled.

const ramp = ['#440154', '#472d7b', '#3b528b', '#2c728e', '#21918c', '#28ae80', '#5ec962', '#addc30', '#fde725'];
const kinds = ['#e69f00', '#56b4e9', '#009e73', '#f0e442', '#0072b2', '#d55e00', '#cc79a7', '#8f8f8f'];

const rgb = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255);
const rampRgb = ramp.map(rgb);
const kindsRgb = kinds.map(rgb);
const linear = (c) => c.map((x) => (x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4));
const css = (c) => `rgb(${c.map((x) => Math.round(255 * x)).join(' ')})`;

function alongRamp(share) {
  const at = Math.min(1, Math.max(0, share)) * (rampRgb.length - 1);
  const i = Math.min(rampRgb.length - 2, Math.floor(at));
  return rampRgb[i].map((c, k) => c + (at - i) * (rampRgb[i + 1][k] - c));
}

export const grey = linear([0.55, 0.55, 0.57]);
export const rampCss = (share) => css(alongRamp(share));
export const kindCss = (i) => kinds[i % kinds.length];
export const rampLinear = (share) => linear(alongRamp(share));
export const kindLinear = (i) => linear(kindsRgb[i % kindsRgb.length]);
// Linear to a CSS colour.
export const cssOfLinear = (c) => css(c.map((x) => (x <= 0.0031308 ? 12.92 * x : 1.055 * x ** (1 / 2.4) - 0.055)));
