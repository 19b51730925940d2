// Builds and packs everything, writes the SBOM, and prints what a release would publish: npm run release
// Nothing is published from here: the workflow .github/workflows/release.yml does it, for a tag.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { packAll } from './pack.ts';

const root = join(import.meta.dirname, '..');
const { values } = parseArgs({
  options: { to: { type: 'string', default: 'dist' }, tag: { type: 'string' } },
});
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };

function requireRelease(): void {
  if (values.tag !== undefined && values.tag !== `v${version}`)
    throw new Error(`The tag is ${values.tag}, but package.json has version ${version}`);
  const changelog = readFileSync(join(root, 'CHANGELOG.md'), 'utf8');
  if (!changelog.includes(`## [${version}]`)) throw new Error(`CHANGELOG.md has no section [${version}]`);
}

// Of everything that is installed with the packages, the bundled ones included.
function writeSbom(file: string): void {
  const sbom = execFileSync('npm', ['sbom', '--sbom-format', 'cyclonedx', '--omit', 'dev'], {
    cwd: root,
    maxBuffer: 64 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  writeFileSync(file, sbom);
}

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
