import { fileURLToPath } from 'node:url';

const pathOf = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** What Node is given to run a program of this folder. Before the tests it is built, because tsx takes a second to load it. */
export const programOf = (name: string): string[] =>
  process.env.VITEST === 'true'
    ? [pathOf(`../../../../apps/.test/dist/${name}.mjs`)]
    : ['--import', 'tsx', pathOf(`${name}.ts`)];
