import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Outcome, runDamage } from './campaign.ts';
import { createNotes } from './store.ts';

// npm run test:damage -- [how many] [first seed]: damages a store again and again, and says what became of it.

const [count, first] = [Number(process.argv[2] ?? 10_000), Number(process.argv[3] ?? 1)];
const perProcess = 500;
const folder = mkdtempSync(join(tmpdir(), 'stak-damage-'));
await createNotes(folder);
const sums = new Map<string, number>();
const failures: string[] = [];

const fateOf = ({ refused, problems }: Outcome): string =>
  refused ? 'refused' : problems.length > 0 ? 'named by the check' : 'in bytes that nothing uses';

for (let seed = first; seed < first + count; seed += perProcess) {
  const { code, signal, stderr, outcomes } = await runDamage(folder, seed, Math.min(perProcess, first + count - seed));
  if (code !== 0) failures.push(`a process ended with ${signal ?? code} after seed ${outcomes.at(-1)?.seed}: ${stderr}`);
  for (const outcome of outcomes) {
    const name = `${outcome.kind}: ${fateOf(outcome)}`;
    sums.set(name, (sums.get(name) ?? 0) + 1);
    if (outcome.wrong.length > 0) failures.push(JSON.stringify(outcome));
  }
}
for (const [name, sum] of [...sums].sort()) console.log(`${String(sum).padStart(6)}  ${name}`);
for (const failure of failures) console.error(failure);
console.log(failures.length === 0 ? 'Nothing wrong was returned.' : `${failures.length} failures`);
rmSync(folder, { recursive: true });
process.exitCode = failures.length === 0 ? 0 : 1;
