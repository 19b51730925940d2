const browsers: readonly (readonly [string, RegExp])[] = [
  ['Edge', /\bEdg(?:e|A|iOS)?\//],
  ['Opera', /\bOPR\//],
  ['Firefox', /\b(?:Firefox|FxiOS)\//],
  ['Chrome', /\b(?:Chrome|HeadlessChrome|CriOS)\//],
  ['Safari', /\bSafari\//],
];
const systems: readonly (readonly [string, RegExp])[] = [
  ['iPhone', /iPhone/],
  ['iPad', /iPad/],
  ['Android', /Android/],
  ['Windows', /Windows/],
  ['macOS', /Mac OS X|Macintosh/],
  ['Linux', /Linux|X11/],
];

// A short name by which people recognise their device, from its User-Agent.
export function deviceName(userAgent: string | undefined): string {
  if (userAgent === undefined || userAgent === '') return 'an unknown device';
  const nameIn = (names: readonly (readonly [string, RegExp])[]) =>
    names.find(([, shape]) => shape.test(userAgent))?.[0];
  const [browser, system] = [nameIn(browsers), nameIn(systems)];
  if (browser !== undefined) return system === undefined ? browser : `${browser} on ${system}`;
  return userAgent.length > 60 ? `${userAgent.slice(0, 60)}…` : userAgent;
}
