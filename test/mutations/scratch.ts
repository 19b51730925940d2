import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { root } from './fault.ts';

export type Scratch = { folder: string; remove(): void };

/**
 * A copy of the checkout as it is, with what is not committed. Packages of this house resolve to their copies, all
 * others to the installed ones.
 */
export function createScratch(): Scratch {
  const folder = mkdtempSync(join(tmpdir(), 'stak-mutations-'));
  const list = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  for (const path of list.split('\0')) {
    if (path === '' || !existsSync(join(root, path))) continue; // deleted, and not committed
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    cpSync(join(root, path), join(folder, path));
    if (path.endsWith('/package.json')) linkOwnModules(dirname(path), folder);
  }
  linkModules(join(root, 'node_modules'), join(folder, 'node_modules'));
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

// Some workspaces have packages that no other one uses.
function linkOwnModules(workspace: string, folder: string): void {
  const own = join(root, workspace, 'node_modules');
  if (existsSync(own)) symlinkSync(own, join(folder, workspace, 'node_modules'));
}

function linkModules(from: string, to: string): void {
  mkdirSync(to);
  for (const name of readdirSync(from)) {
    if (name === '@stak')
      cpSync(join(from, name), join(to, name), { recursive: true, verbatimSymlinks: true });
    else if (!name.startsWith('.') && lstatSync(join(from, name)).isDirectory())
      symlinkSync(join(from, name), join(to, name));
  }
}
