import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const semver = /^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?$/;
type Lock = { version: string; packages: Record<string, { version?: string; link?: boolean }> };

/** Writes the version into every package, the lockfile, the chart and the guides, and gives the changes its title. */
export function prepareRelease(version: string, date: string): void {
  if (!semver.test(version)) throw new Error(`${version} is not a version: it is like 0.2.0`);
  const before = versionIn('package.json');
  if (before === version) throw new Error(`This is version ${version} already`);
  edit('CHANGELOG.md', text => cutChangelog(text, version, date));
  edit('package-lock.json', text => {
    const lock = JSON.parse(text) as Lock;
    lock.version = version;
    for (const folder of Object.keys(lock.packages).filter(path => !path.includes('node_modules'))) {
      lock.packages[folder]!.version = version;
      edit(join(folder, 'package.json'), manifest => manifest.replace(/("version": ")[^"]+/, `$1${version}`));
    }
    return `${JSON.stringify(lock, null, 2)}\n`;
  });
  edit('deploy/helm/stak/Chart.yaml', text =>
    text.replaceAll(/^((?:app)?[vV]ersion: ).*$/gm, `$1${version}`),
  );
  edit('docs/guides/deploy-on-aws.md', text => text.replaceAll(before, version));
}

/** The text with what was unreleased under the title of a version. */
export function cutChangelog(text: string, version: string, date: string): string {
  const [, changes] = /^## \[Unreleased\]\n(.*?)(?=^## \[)/ms.exec(text) ?? [];
  if (!changes?.trim()) throw new Error('CHANGELOG.md has nothing under [Unreleased]');
  return text.replace('## [Unreleased]\n', `## [Unreleased]\n\n## [${version}] - ${date}\n`);
}

const versionIn = (path: string): string =>
  (JSON.parse(readFileSync(join(root, path), 'utf8')) as { version: string }).version;

function edit(path: string, change: (text: string) => string): void {
  const file = join(root, path);
  writeFileSync(file, change(readFileSync(file, 'utf8')));
}
