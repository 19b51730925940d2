import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

const root = join(import.meta.dirname, '../..');
const execute = promisify(execFile);
// As the benchmarks take the pinned commit.
const checkouts = pathToFileURL(join(root, 'bench/src/against/checkout.ts')).href;
const { checkOut, findCommit, readPinnedCommit } = (await import(checkouts)) as {
  checkOut(commit: string, folder: string): Promise<{ root: string }>;
  findCommit(name: string): Promise<string | undefined>;
  readPinnedCommit(): string;
};

/** The server of version 0.1.0, packed from the pinned commit; undefined in a clone that does not have it. */
export async function packOldVersion(): Promise<string | undefined> {
  const commit = await findCommit(readPinnedCommit());
  if (commit === undefined) return undefined;
  const cache = join(root, 'node_modules/.cache/operator', commit);
  const [cached] = await readdir(cache).catch(() => []);
  if (cached !== undefined) return join(cache, cached);
  const folder = await mkdtemp(join(tmpdir(), 'stak-old-'));
  try {
    const checkout = await checkOut(commit, folder);
    // Packages of this checkout are used where they are the same; their programs are not linked.
    const programs = join(checkout.root, 'node_modules/.bin');
    if (!existsSync(programs)) await symlink(join(root, 'node_modules/.bin'), programs);
    const packed = join(folder, 'packed');
    await execute('npm', ['run', '--silent', 'pack', '--', '--to', packed], {
      cwd: checkout.root,
      maxBuffer: 64 * 1024 * 1024,
    });
    const tarballs = await readdir(join(packed, 'tarballs'));
    const server = tarballs.find(name => /^stak-(?:server-)?\d/.test(name));
    if (server === undefined) throw new Error(`The pinned commit packs no server: ${tarballs.join(', ')}`);
    await mkdir(cache, { recursive: true });
    await copyFile(join(packed, 'tarballs', server), join(cache, server));
    return join(cache, server);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
