// A release has two steps:
//   npm run release -- --prepare 0.2.0   writes the version everywhere; commit that, and tag the commit v0.2.0
//   npm run release                      builds and packs everything, writes the SBOM, and prints what would be published
// Nothing is published or tagged from here: the workflow .github/workflows/release.yml publishes, for a tag.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { packAll } from './pack.ts';
import { prepareRelease } from './prepare-release.ts';

const root = join(import.meta.dirname, '..');
const { values } = parseArgs({
  options: { to: { type: 'string', default: 'dist' }, tag: { type: 'string' }, prepare: { type: 'string' } },
});
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };

function requireRelease(): void {
  if (values.tag !== undefined && values.tag !== `v${version}`)
    throw new Error(`The tag is ${values.tag}, but package.json has version ${version}`);
  const changelog = readFileSync(join(root, 'CHANGELOG.md'), 'utf8');
  if (!changelog.includes(`## [${version}]`)) throw new Error(`CHANGELOG.md has no section [${version}]`);
}

// Lists everything that is installed with the packages, the bundled ones included.
function writeSbom(file: string): void {
  const sbom = execFileSync('npm', ['sbom', '--sbom-format', 'cyclonedx', '--omit', 'dev'], {
    cwd: root,
    maxBuffer: 64 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  writeFileSync(file, sbom);
}

function release(): void {
  requireRelease();
  const folder = resolve(values.to);
  const tarballs = packAll(folder);
  const sbom = join(folder, `stak-${version}.cdx.json`);
  writeSbom(sbom);
  console.log(`Version ${version} would publish:`);
  for (const [name, file] of tarballs) {
    const digest = createHash('sha512').update(readFileSync(file)).digest('base64');
    const kilobytes = Math.ceil(statSync(file).size / 1024);
    console.log(`  ${name}@${version}  ${basename(file)}  ${kilobytes} KB  sha512-${digest}`);
  }
  console.log(`The SBOM (CycloneDX) is ${sbom}`);
}

if (values.prepare === undefined) release();
else {
  prepareRelease(values.prepare, new Date().toISOString().slice(0, 10));
  console.log(
    `Every package has version ${values.prepare}. Commit this, and tag the commit v${values.prepare}.`,
  );
}
