import { readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { metaKey } from './keys.ts';
import { memoryFile } from './memory.ts';
import { copyBytes, openStore } from './store.ts';

const key = metaKey('a');
const large = Buffer.alloc(1024 * 1024, 7);

it.skipIf(process.platform === 'win32')(
  'leaves no file behind, not even while it is open (skipped because Windows keeps the name)',
  async () => {
    const folder = dirname(memoryFile());
    const named = () => readdirSync(folder).filter(name => name.startsWith(`stak-${process.pid}-`));
    const before = new Set(named());
    const store = openStore(':memory:');
    await store.commit(() => store.put(key, large));
    expect(named().filter(name => !before.has(name))).toEqual([]);
    expect(store.get(key, copyBytes)?.equals(large)).toBe(true);
    await store.close();
    expect(named().filter(name => !before.has(name))).toEqual([]);
  },
);

it('can be copied to a folder', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'stak-memory-'));
  const store = openStore(':memory:');
  await store.commit(() => store.put(key, large));
  await store.backup(folder);
  await store.close();
  const copy = openStore(folder);
  expect(copy.get(key, copyBytes)?.equals(large)).toBe(true);
  await copy.close();
  await rm(folder, { recursive: true });
});
