import { describe, expect, it } from 'vitest';
import { dark, light, shades } from './identity.ts';

// Relative luminance and contrast as WCAG 2.2 defines them.
function luminance(color: string): number {
  const [r, g, b] = [1, 3, 5].map(at => {
    const share = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
const contrast = (one: string, other: string): number => {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b) as [number, number];
  return (high + 0.05) / (low + 0.05);
};

describe.each([
  ['light', light],
  ['dark', dark],
])('the %s colours', (_, colors) => {
  it('can be read on every ground', () => {
    for (const text of ['text', 'soft-text', 'accent', 'danger'] as const)
      for (const ground of ['ground', 'surface', 'raised', 'accent-soft'] as const)
        expect(contrast(colors[text], colors[ground]), `${text} on ${ground}`).toBeGreaterThanOrEqual(4.5);
    expect(contrast(colors['on-ink'], colors.ink)).toBeGreaterThanOrEqual(7);
  });
});

it('shades go from light to dark, and include the colours', () => {
  for (const scale of Object.values(shades)) {
    expect(scale).toHaveLength(10);
    for (const [at, color] of scale.slice(1).entries())
      expect(luminance(color), color).toBeLessThan(luminance(scale[at]!));
  }
  expect(shades.accent[9]).toBe(light.accent);
  for (const name of ['ground', 'raised', 'line', 'soft-text', 'text'] as const)
    expect(shades.grey).toContain(light[name]);
  for (const name of ['ground', 'surface', 'raised', 'line', 'soft-text', 'text'] as const)
    expect(shades.darkGrey).toContain(dark[name]);
});
