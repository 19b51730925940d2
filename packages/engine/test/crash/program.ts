import { fileURLToPath } from 'node:url';

const pathOf = (path: string, from: string): string => fileURLToPath(new URL(path, from));

/**
 * What Node is given to run a program of a folder: of this one, or of the file's whose address is given. Before the
 * tests it is built, because tsx takes a second to load it.
 */
export const programOf = (name: string, from = import.meta.url): string[] =>
  process.env.VITEST === 'true'
    ? [pathOf(`../../../../apps/.test/dist/${name}.mjs`, import.meta.url)]
    : ['--import', 'tsx', pathOf(`${name}.ts`, from)];
