// Writes what is generated from the code: the typed client and the references of errors and of roles.
//   npm run generate [-- --check]     with --check nothing is written, and what is out of date is named
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { generatedFiles } from './generated-files.ts';

const root = join(import.meta.dirname, '..');
const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } });

let outdated = 0;
for (const [path, text] of await generatedFiles()) {
  const current = await readFile(join(root, path), 'utf8').catch(() => '');
  if (current === text) continue;
  outdated += 1;
  if (values.check) console.error(`${path} is out of date: npm run generate`);
  else await writeFile(join(root, path), text);
}
process.exit(values.check && outdated > 0 ? 1 : 0);
