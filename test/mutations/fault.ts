import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A test file has to notice a fault, or some of its tests, perhaps with several seeds of the adversary. */
export type Catcher = {
  test: string;
  name?: string; // a regular expression of the names of the tests
  seeds?: readonly [first: number, last: number];
};

/** A fault that is planted on purpose: one text in one file gives way to another. */
export type Fault = {
  name: string;
  file: string;
  before: string;
  after: string;
  why: string;
  caughtBy: Catcher;
  isShort?: true; // also part of the short run
};

export const root = join(import.meta.dirname, '../..');

/** The text of the file with the fault in it. Throws unless the text to replace is there exactly once. */
export function plant({ name, before, after, file }: Fault, text: string): string {
  const count = text.split(before).length - 1;
  if (count !== 1)
    throw new Error(`${name}: its text is ${count === 0 ? 'not' : `${count} times`} in ${file}.`);
  return text.replace(before, () => after);
}

/** Lists what is wrong with the faults themselves; empty if every fault can be planted. */
export function findMisfits(faults: readonly Fault[], folder = root): string[] {
  const misfits: string[] = [];
  const names = new Set<string>();
  for (const fault of faults) {
    if (names.has(fault.name)) misfits.push(`${fault.name} is listed twice.`);
    names.add(fault.name);
    if (fault.before === fault.after) misfits.push(`${fault.name} changes nothing.`);
    try {
      plant(fault, readFileSync(join(folder, fault.file), 'utf8'));
      readFileSync(join(folder, fault.caughtBy.test));
    } catch (error) {
      misfits.push((error as Error).message);
    }
  }
  return misfits;
}

/** The command that a person runs to see what the catcher sees. */
export const commandOf = ({ test, name, seeds }: Catcher): string =>
  `${seeds ? `STAK_ADVERSARY_SEED=${seeds.join('..')} ` : ''}vitest run ${test}${name ? ` -t '${name}'` : ''}`;
