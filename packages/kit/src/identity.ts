// How Stak looks: the colours, the type and the shapes of the console, the portal, the documentation and the mails.
// `npm run generate` writes them as variables of CSS to identity.css; programs take them from here.

type Colors = Readonly<Record<ColorName, string>>;
type ColorName = (typeof colorNames)[number];
const colorNames = [
  'ground', // behind everything
  'surface', // of what lies on it
  'raised', // of what lies on a surface: fields, code, a row under the pointer
  'line', // between things
  'text',
  'soft-text', // notes and labels
  'ink', // of the button that matters most
  'on-ink',
  'accent', // links, and what is chosen
  'accent-soft', // behind what is chosen
  'danger',
] as const;

/** On a light page. Text has a contrast of at least 4.5 with each of the grounds: a test works it out. */
export const light: Colors = {
  ground: '#f7f8f5',
  surface: '#ffffff',
  raised: '#f3f5f1',
  line: '#e0e4dc',
  text: '#171d19',
  'soft-text': '#555f58',
  ink: '#17211c',
  'on-ink': '#ffffff',
  accent: '#0a6549',
  'accent-soft': '#e2f1ea',
  danger: '#ad2117',
};
/** On a dark page. */
export const dark: Colors = {
  ground: '#0e1311',
  surface: '#151b18',
  raised: '#1d2521',
  line: '#2c3631',
  text: '#e4eae6',
  'soft-text': '#a2aea7',
  ink: '#e4eae6',
  'on-ink': '#121815',
  accent: '#5fd3aa',
  'accent-soft': '#123226',
  danger: '#ff9a8f',
};

/** The type: that of the system, unless Inter is installed. */
export const fonts = {
  text: 'Inter, "Inter Variable", ui-sans-serif, system-ui, -apple-system, "Segoe UI", sans-serif',
  code: 'ui-monospace, "SF Mono", "JetBrains Mono", "Cascadia Code", Menlo, Consolas, monospace',
};

/** From the finest to the boldest, and each for what is as large as that. */
export const radii = { small: '5px', medium: '8px', large: '12px' };

/** Shades of the accent and of the greys, from the lightest, for components that mix their own. */
export const shades = {
  accent: [
    '#eef8f3',
    '#d7ede3',
    '#b0dbc9',
    '#83c7ad',
    '#56b392',
    '#33a07b',
    '#1f8c68',
    '#137957',
    '#0d6f50',
    '#0a6549',
  ],
  grey: [
    '#f7f8f5',
    '#f3f5f1',
    '#e9ece6',
    '#e0e4dc',
    '#ccd2c9',
    '#a7afa6',
    '#6b756d',
    '#555f58',
    '#38403b',
    '#171d19',
  ],
  darkGrey: [
    '#e4eae6',
    '#a2aea7',
    '#8b9790',
    '#65706a',
    '#36413b',
    '#2c3631',
    '#1d2521',
    '#151b18',
    '#0e1311',
    '#0a0e0c',
  ],
} as const;

const variables = (values: Readonly<Record<string, string>>): string =>
  Object.entries(values)
    .map(([name, value]) => `  --${name}: ${value};`)
    .join('\n');
const named = (prefix: string, values: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [`${prefix}-${name}`, value]));

/** The variables for a page. It follows the system, unless its attribute says that it is light or dark. */
export function identityCss(): string {
  const shared = { ...named('font', fonts), ...named('radius', radii) };
  return `/* Generated from identity.ts: npm run generate */
:root {
${variables({ ...named('color', light), ...shared })}
}
@media (prefers-color-scheme: dark) {
  :root:not([data-mantine-color-scheme="light"]) {
${variables(named('color', dark)).replaceAll(/^/gm, '  ')}
  }
}
:root[data-mantine-color-scheme="dark"] {
${variables(named('color', dark))}
}
`;
}
