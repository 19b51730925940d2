import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { projectRoot, stakCommandIn } from '../server/bundle.ts';

const run = promisify(execFile);

// A folder with the sources of a server and the packages they need.
export type Checkout = { title: string; root: string };

const pinnedFile = join(projectRoot, 'bench/pinned-commit');

export const readPinnedCommit = (): string => readFileSync(pinnedFile, 'utf8').trim();

// The full hash; undefined if this clone does not have the commit.
export async function findCommit(name: string): Promise<string | undefined> {
  try {
    const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`];
    return (await run('git', args, { cwd: projectRoot })).stdout.trim();
  } catch {
    return undefined;
  }
}

// Another working copy, by its path. `npm run` changes the current folder and remembers the original one.
export function findCheckout(path: string): Checkout | undefined {
  const root = resolve(process.env.INIT_CWD ?? process.cwd(), path);
  if (!existsSync(stakCommandIn(root))) return undefined;
  if (!existsSync(join(root, 'node_modules'))) throw new Error(`${path} has no packages; run npm ci there`);
  return { title: path, root };
}

// Writes the commit's files to the folder.
export async function checkOut(commit: string, folder: string): Promise<Checkout> {
  const root = join(folder, 'checkout');
  const archive = join(folder, 'checkout.tar');
  mkdirSync(root, { recursive: true });
  await run('git', ['archive', '--output', archive, commit], { cwd: projectRoot });
  await run('tar', ['-xf', archive, '-C', root]);
  await installPackages(root);
  return { title: commit.slice(0, 8), root };
}

// The part of package-lock.json that is used here.
export type Lock = {
  packages: Record<string, { version?: string; integrity?: string; resolved?: string; link?: boolean }>;
};

const readLock = (root: string): Lock =>
  JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as Lock;

// Uses the packages of this checkout if it has all of them in the same versions. An installation takes much longer.
async function installPackages(root: string): Promise<void> {
  const lock = readLock(root);
  if (includesLock(readLock(projectRoot), lock)) return linkPackages(lock, root);
  await run('npm', ['ci', '--no-audit', '--no-fund', '--prefer-offline'], { cwd: root });
}

export function includesLock(lock: Lock, other: Lock): boolean {
  return Object.entries(other.packages)
    .filter(([path, { link }]) => isPackage(path) && !link)
    .every(([path, { version, integrity }]) => {
      const own = lock.packages[path];
      return own !== undefined && own.version === version && own.integrity === integrity;
    });
}

// Workspaces are linked to the folder's own sources, packages to those of this checkout.
function linkPackages(lock: Lock, root: string): void {
  for (const [path, { link, resolved }] of Object.entries(lock.packages)) {
    if (path.lastIndexOf('node_modules/') !== 0) continue; // packages within packages come along
    const target = join(link ? root : projectRoot, link ? resolved! : path);
    if (!existsSync(target)) continue; // an optional package of another platform
    mkdirSync(dirname(join(root, path)), { recursive: true });
    symlinkSync(target, join(root, path));
  }
}

const isPackage = (path: string): boolean => path.includes('node_modules/');
