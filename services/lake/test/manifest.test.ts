import { manualClock, manualOwners } from '@stak/kit';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { folderObjects } from '../src/index.ts';
import * as limits from '../src/limits.ts';
import { takeLease } from '../src/storage/leases.ts';
import { openManifest } from '../src/storage/manifest.ts';
import { type State, stateFromJson, stateToJson } from '../src/storage/manifest-state.ts';
import { readObjects, temporaryFolder } from './lake-fixture.ts';

const file = (path: string) => ({
  path,
  entity: 'e',
  day: '2026-01-01',
  rows: 1,
  bytes: 1,
  isChained: true,
  firstAt: 0,
});
const namesOf = (state: State) => [...state.files.keys()].sort();

test('several processes commit concurrently, and all read the same', async () => {
  const objects = folderObjects(await temporaryFolder());
  const clock = manualClock();
  const processes = Array.from({ length: 3 }, () => openManifest(objects, 'table', clock));
  const commits = processes.flatMap((manifest, i) =>
    Array.from({ length: 10 }, (_, n) => manifest.commit(() => ({ at: n, add: [file(`${i}-${n}`)] }))),
  );
  await Promise.all(commits);
  const states = await Promise.all(processes.map(manifest => manifest.read()));
  for (const state of [...states, await openManifest(objects, 'table', clock).read()]) {
    expect(state.version).toBe(30);
    expect(namesOf(state)).toEqual(namesOf(states[0]!));
    expect(state.files.size).toBe(30);
  }
});

test('a writer that loses the race reads again before it commits', async () => {
  const objects = folderObjects(await temporaryFolder());
  const clock = manualClock();
  const [slow, fast] = [openManifest(objects, 't', clock), openManifest(objects, 't', clock)];
  let looked = 0;
  const entry = await slow.commit(async state => {
    looked += 1;
    if (looked === 1) await fast.commit(() => ({ at: 1, add: [file('x')] }));
    return state.files.has('x') ? undefined : { at: 2, add: [file('x')] };
  });
  expect([entry, looked]).toEqual([undefined, 2]);
});

test('old commits are removed, and a process that was suspended does not reuse a freed number', async () => {
  const objects = folderObjects(await temporaryFolder());
  const clock = manualClock(Date.now());
  const sleeper = openManifest(objects, 't', clock);
  await sleeper.commit(() => ({ at: 0, add: [file('first')] }));
  const busy = openManifest(objects, 't', clock);
  const rounds = limits.commitsPerState * (limits.statesKept + 2);
  for (let i = 0; i < rounds; i++) {
    if (i === rounds - limits.commitsPerState) await clock.advance(limits.commitsKeptMs + 60_000);
    await busy.commit(() => ({ at: i, add: [file(`f${i}`)] }));
  }
  const kept = await readObjects(objects, 'manifest/t/commits/');
  expect(kept.length).toBeLessThan(rounds);
  expect(kept[0]).not.toMatch(/0001\.json$/);
  await sleeper.commit(() => ({ at: 1, add: [file('last')] }));
  const state = await openManifest(objects, 't', clock).read();
  expect(state.version).toBe(rounds + 2);
  expect(state.files.size).toBe(rounds + 2);
});

test('a process that is suspended while it builds a commit does not reuse a freed number either', async () => {
  const objects = folderObjects(await temporaryFolder());
  const clock = manualClock(Date.now());
  const [sleeper, busy] = [openManifest(objects, 't', clock), openManifest(objects, 't', clock)];
  await sleeper.commit(() => ({ at: 0, add: [file('first')] }));
  const rounds = limits.commitsPerState * (limits.statesKept + 2);
  let looked = 0;
  await sleeper.commit(async () => {
    for (let i = 0; looked === 0 && i < rounds; i++) {
      if (i === rounds - limits.commitsPerState) await clock.advance(limits.commitsKeptMs + 60_000);
      await busy.commit(() => ({ at: i, add: [file(`f${i}`)] }));
    }
    looked += 1;
    return { at: 1, add: [file('last')] };
  });
  expect(looked).toBe(2);
  const state = await openManifest(objects, 't', clock).read();
  expect([state.version, state.files.size]).toEqual([rounds + 2, rounds + 2]);
});

test('commits that were folded just now stay for those who have not read them', async () => {
  const objects = folderObjects(await temporaryFolder());
  const clock = manualClock(Date.now());
  const [reader, writer] = [openManifest(objects, 't', clock), openManifest(objects, 't', clock)];
  await writer.commit(() => ({ at: 0, add: [file('first')] }));
  await reader.read();
  const rounds = limits.commitsPerState * (limits.statesKept + 2);
  for (let i = 0; i < rounds; i++) await writer.commit(() => ({ at: i, add: [file(`f${i}`)] }));
  expect((await reader.read()).files.size).toBe(rounds + 1);
});

test('a state round-trips through its text', () => {
  const state = fc.record({
    version: fc.nat(),
    at: fc.nat(),
    files: fc
      .uniqueArray(fc.string(), { maxLength: 5 })
      .map(paths => new Map(paths.map(path => [path, { ...file(path), commit: 3 }]))),
    garbage: fc.array(fc.record({ path: fc.string(), since: fc.nat() })),
  });
  fc.assert(
    fc.property(state, some => {
      const full = {
        ...stateFromJson(stateToJson({ ...some, files: new Map() } as State)),
        ...some,
      } as State;
      expect(stateFromJson(stateToJson(full))).toEqual(full);
    }),
  );
});

test('one process holds a lease until it ends, and its numbers never restart', async () => {
  const objects = folderObjects(await temporaryFolder());
  const clock = manualClock();
  const owners = manualOwners();
  const as = (owner: string) =>
    takeLease({ objects, clock, owners: owners.as(owner), owner, leaseMs: 1000 }, 'work');
  expect(await as('a')).toBeDefined();
  expect(await as('b')).toBeUndefined();
  expect(await as('a')).toBeDefined();
  owners.end('a');
  expect(await as('b')).toBeDefined(); // at once, where it is known to be gone
  await clock.advance(1001);
  const both = await Promise.all([as('c'), as('d')]);
  expect(both.filter(Boolean)).toHaveLength(1);
  for (let i = 0; i < 5; i++) {
    await clock.advance(1001);
    expect(await as(`d${i}`)).toBeDefined();
  }
  expect((await readObjects(objects, 'leases/')).length).toBeLessThanOrEqual(2);
});
