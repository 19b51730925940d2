import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const pathOf = (path: string, from: string): string => fileURLToPath(new URL(path, from));

/**
 * What Node is given to run a program of a folder: of this one, or of the file's whose address is given. Before the
 * tests it is built, because tsx takes a second to load it. Where nothing was built, its source is run.
 */
export function programOf(name: string, from = import.meta.url): string[] {
  const built = pathOf(`../../../../apps/.test/dist/${name}.mjs`, import.meta.url);
  if (process.env.VITEST === 'true' && existsSync(built)) return [built];
  return ['--import', 'tsx', pathOf(`${name}.ts`, from)];
}
