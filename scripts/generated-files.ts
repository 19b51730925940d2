import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { decisionsPage, readDecisions } from './generate-decisions.ts';
import { type Catalogue, type Documented, errorsPage } from './generate-errors.ts';
import { rolesPage } from './generate-roles.ts';

const root = join(import.meta.dirname, '..');

// The root package depends on no workspace package, so what it describes is imported by path.
const load = (path: string) => import(pathToFileURL(join(root, path)).href);

/** Generates files from the code: paths in the repository, and their content. */
export async function generatedFiles(): Promise<[path: string, text: string][]> {
  // A package with its own errors adds its catalogue here; those of services come with the server.
  const { httpErrors } = await load('packages/http/src/index.ts');
  const { tableErrors } = await load('packages/table/src/index.ts');
  const { streamErrors } = await load('packages/streams/src/index.ts');
  const { describeApi, serviceErrors } = await load('apps/server/src/compose/document.ts');
  const { errorTexts } = await load('apps/server/src/http/reference/error-texts.ts');
  const { roles } = await load('services/accounts/src/roles.ts');
  const { identityCss } = await load('packages/kit/src/identity.ts');
  const { generateClient } = await load('packages/client/src/generator.ts');

  const document: Documented = describeApi();
  const catalogues: Catalogue[] = [httpErrors, tableErrors, streamErrors, ...serviceErrors()];
  return [
    ['packages/client/src/generated.ts', format(generateClient(document))],
    ['packages/kit/src/identity.css', identityCss()],
    ['docs/reference/errors.md', errorsPage(catalogues, document, errorTexts)],
    ['docs/reference/roles.md', rolesPage(roles, document)],
    ['docs/adr/README.md', decisionsPage(readDecisions(join(root, 'docs/adr')))],
  ];
}

function format(source: string): string {
  const biome = join(root, 'node_modules/@biomejs/biome/bin/biome');
  const args = [biome, 'format', '--stdin-file-path=packages/client/src/generated.ts'];
  return execFileSync(process.execPath, args, { cwd: root, input: source, encoding: 'utf8' });
}
