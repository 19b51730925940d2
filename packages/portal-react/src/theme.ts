import type { PortalUser } from './queries.ts';

type Rgb = readonly [number, number, number];

const read = (color: string): Rgb =>
  [1, 3, 5].map(at => Number.parseInt(color.slice(at, at + 2), 16)) as unknown as Rgb;
const write = (rgb: Rgb): string =>
  `#${rgb.map(part => Math.round(part).toString(16).padStart(2, '0')).join('')}`;

// Relative luminance as defined by WCAG.
function luminance(rgb: Rgb): number {
  const [r, g, b] = rgb.map(part => {
    const share = part / 255;
    return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }) as unknown as Rgb;
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
const contrast = (one: Rgb, other: Rgb): number => {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b) as [number, number];
  return (light + 0.05) / (dark + 0.05);
};

const black: Rgb = [0, 0, 0];
const white: Rgb = [255, 255, 255];
const textOn = (color: string): string =>
  contrast(read(color), black) >= contrast(read(color), white) ? '#000000' : '#ffffff';

// The colour, made just dark or light enough to be readable on the surface.
function readableOn(color: string, surface: string): string {
  const ground = read(surface);
  const towards = luminance(ground) > 0.5 ? black : white;
  const from = read(color);
  for (let share = 0; share <= 1; share += 0.05) {
    const mixed = from.map((part, i) => part + (towards[i]! - part) * share) as unknown as Rgb;
    if (contrast(read(write(mixed)), ground) >= 4.6) return write(mixed);
  }
  return write(towards);
}

const surfaces = { light: '#ffffff', dark: '#1d2427' };

/** CSS variables for a tenant's colours. Text is readable with any colours. */
export function themeOf({
  color = '#0b7285',
  header_color,
}: Pick<PortalUser['portal'], 'color' | 'header_color'>): Record<string, string> {
  return {
    '--stak-portal-accent': color,
    '--stak-portal-on-accent': textOn(color),
    '--stak-portal-link-light': readableOn(color, surfaces.light),
    '--stak-portal-link-dark': readableOn(color, surfaces.dark),
    ...(header_color !== undefined && {
      '--stak-portal-header': header_color,
      '--stak-portal-on-header': textOn(header_color),
    }),
  };
}
