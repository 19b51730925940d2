// Writes what is generated from the code: the typed client and the references of errors and of roles.
//   npm run generate [-- --check]     with --check nothing is written, and what is out of date is named
import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { type Catalogue, type Documented, errorsPage } from './generate-errors.ts';
import { rolesPage } from './generate-roles.ts';

const root = join(import.meta.dirname, '..');
const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } });

// The root package depends on no workspace package, so what it describes is imported by path.
const load = (path: string) => import(pathToFileURL(join(root, path)).href);

// A package with its own errors adds its catalogue here; those of services come with the server.
const { httpErrors } = await load('packages/http/src/index.ts');
const { tableErrors } = await load('packages/table/src/index.ts');
const { streamErrors } = await load('packages/streams/src/index.ts');
const { describeApi, serviceErrors } = await load('apps/server/src/document.ts');
const { errorTexts } = await load('apps/server/src/reference/error-texts.ts');
const { roles } = await load('services/accounts/src/organisations/roles.ts');
const { generateClient } = await load('packages/client/src/generator.ts');

const document: Documented = describeApi();
const catalogues: Catalogue[] = [httpErrors, tableErrors, streamErrors, ...serviceErrors()];
const files: [path: string, text: string][] = [
  ['packages/client/src/generated.ts', format(generateClient(document))],
  ['docs/reference/errors.md', errorsPage(catalogues, document, errorTexts)],
  ['docs/reference/roles.md', rolesPage(roles, document)],
];

let outdated = 0;
for (const [path, text] of files) {
  const current = await readFile(join(root, path), 'utf8').catch(() => '');
  if (current === text) continue;
  outdated += 1;
  if (values.check) console.error(`${path} is out of date: npm run generate`);
  else await writeFile(join(root, path), text);
}
process.exit(values.check && outdated > 0 ? 1 : 0);

function format(source: string): string {
  const biome = join(root, 'node_modules/@biomejs/biome/bin/biome');
  const args = [biome, 'format', '--stdin-file-path=packages/client/src/generated.ts'];
  return execFileSync(process.execPath, args, { cwd: root, input: source, encoding: 'utf8' });
}
