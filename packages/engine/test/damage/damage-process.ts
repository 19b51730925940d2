import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { createEngine, type Engine, StoreError } from '../../src/index.ts';
import { createRandom, type Random } from '../crash/random.ts';
import type { Outcome } from './campaign.ts';
import { keyOf, noteOf, numbers, TableName } from './store.ts';

// Damages a store in its place, opens, checks and reads it, and puts it back. One line for each seed.

const [folder, firstSeed, count] = process.argv.slice(2) as [string, string, string];
const pageBytes = 8192;

const kinds: { [name: string]: (bytes: Buffer, random: Random) => Buffer } = {
  'sixty-four flipped bits': flip(64),
  'one flipped bit': flip(1),
  'a flipped bit in the head of a page'(bytes, { below }) {
    const at = below(bytes.length / pageBytes) * pageBytes + below(64);
    bytes[at]! ^= 1 << below(8);
    return bytes;
  },
  'a zeroed page'(bytes, { below }) {
    const page = below(bytes.length / pageBytes);
    return bytes.fill(0, page * pageBytes, (page + 1) * pageBytes);
  },
  'a page in the place of another'(bytes, { below }) {
    const [from, to] = [below(bytes.length / pageBytes), below(bytes.length / pageBytes)];
    bytes.copy(bytes, to * pageBytes, from * pageBytes, (from + 1) * pageBytes);
    return bytes;
  },
  'a file cut short': (bytes, { below }) => bytes.subarray(0, below(bytes.length)),
};

function flip(bits: number) {
  return (bytes: Buffer, { below }: Random): Buffer => {
    for (let n = 0; n < bits; n++) bytes[below(bytes.length)]! ^= 1 << below(8);
    return bytes;
  };
}

const filesIn = (path: string): string[] =>
  readdirSync(path, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name));

const whole = new Map(filesIn(folder).map(file => [file, readFileSync(file)]));

// In place: a copy would be recovered from its journal.
function putBack(): void {
  for (const file of filesIn(folder)) if (!whole.has(file)) rmSync(file, { force: true });
  for (const [file, bytes] of whole) writeFileSync(file, bytes);
}

async function readAll(engine: Engine): Promise<{ wrong: string[]; missing: string[] }> {
  const wrong: string[] = [];
  const missing: string[] = [];
  const compare = (n: number, item: object | undefined) => {
    if (!item) missing.push(`${n}`);
    else if (!isDeepStrictEqual(item, noteOf(n))) wrong.push(`${n}: ${JSON.stringify(item).slice(0, 200)}`);
  };
  const attempt = async (work: () => Promise<void>) => {
    try {
      await work();
    } catch (error) {
      // A damaged store is refused with a reason.
      missing.push(`${(error as Error).name}: ${(error as Error).message}`);
    }
  };
  for (const n of numbers)
    await attempt(async () => compare(n, (await engine.client.get({ TableName, Key: keyOf(n) })).Item));
  await attempt(async () => {
    for (const item of (await engine.client.scan({ TableName })).Items ?? [])
      compare(item.sk as number, item);
  });
  return { wrong, missing };
}

// A history that is damaged is refused, or what is restored from it is right.
async function outcomeOfHistory(seed: number): Promise<Outcome> {
  const random = createRandom('damage', seed);
  const files = [...whole.keys()].filter(file => /[/\\](history|journal)[/\\]/.test(file));
  const file = random.pick(files);
  writeFileSync(file, flip(1 + random.below(3))(Buffer.from(whole.get(file)!), random));
  const outcome: Outcome = { seed, kind: 'flipped bits in the history', problems: [], wrong: [] };
  const to = join(folder, 'restored');
  const engine = await createEngine({ path: folder, sweepIntervalMs: 0, onError() {} });
  try {
    await engine.history!.restore(to, Number.POSITIVE_INFINITY);
    const restored = await createEngine({ path: to, sweepIntervalMs: 0 });
    const { wrong, missing } = await readAll(restored);
    outcome.wrong.push(...wrong, ...missing);
    await restored.close();
  } catch (error) {
    outcome.refused = (error as Error).message;
  } finally {
    await engine.close();
    rmSync(to, { recursive: true, force: true });
    putBack();
  }
  return outcome;
}

async function outcomeOf(seed: number): Promise<Outcome> {
  if (seed % 10 === 9) return outcomeOfHistory(seed);
  const names = Object.keys(kinds);
  const kind = names[seed % names.length]!;
  const file = join(folder, 'stak.mdb');
  writeFileSync(file, kinds[kind]!(Buffer.from(whole.get(file)!), createRandom('damage', seed)));
  try {
    // Every other time, pages are verified only when they are first needed.
    const pagesVerifiedAtOpen = Math.floor(seed / names.length) % 2 === 0 ? {} : { pagesVerifiedAtOpen: 0 };
    const engine = await createEngine({
      path: folder,
      sweepIntervalMs: 0,
      history: false,
      onError() {},
      ...pagesVerifiedAtOpen,
    });
    try {
      const { problems } = engine.check();
      const { wrong, missing } = await readAll(engine);
      const lost = problems.length === 0 ? missing : [];
      return { seed, kind, problems: problems.map(({ message }) => message), wrong: [...wrong, ...lost] };
    } finally {
      await engine.close();
    }
  } catch (error) {
    if (!(error instanceof StoreError)) throw new Error(`seed ${seed}: ${kind}`, { cause: error });
    return { seed, kind, refused: error.message, problems: [], wrong: [] };
  } finally {
    putBack();
  }
}

for (let seed = Number(firstSeed); seed < Number(firstSeed) + Number(count); seed++)
  console.log(JSON.stringify(await outcomeOf(seed)));
