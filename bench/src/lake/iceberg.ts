import { cp } from 'node:fs/promises';
import { runScript } from '../child-script.ts';
import { percentile } from '../statistics.ts';
import { change } from './backlog.ts';

export type Drain = { perSecond: number };
export type IcebergSettings = { changes: number; rounds: number };
export type Iceberg = { changes: number; withTables: number; withoutTables: number }; // changes a second

// How much Iceberg tables slow down the capture of changes. Rounds with and without them alternate, so that a machine
// that slows down slows both.
export async function measureIceberg(folder: string, { changes, rounds }: IcebergSettings): Promise<Iceberg> {
  await change(folder, changes);
  const drain = async (kind: 'with' | 'without', round: number): Promise<number> => {
    const copy = `${folder}-${kind}-${round}`;
    await cp(folder, copy, { recursive: true });
    const script = import.meta.resolve('./iceberg-script.ts');
    return (await runScript<Drain>(script, [copy, String(changes), kind])).perSecond;
  };
  const milliseconds = { with: [] as number[], without: [] as number[] };
  for (let round = 0; round < rounds; round++)
    for (const kind of ['with', 'without'] as const) milliseconds[kind].push(await drain(kind, round));
  const median = (all: number[]) =>
    percentile(
      all.toSorted((a, b) => a - b),
      0.5,
    );
  return { changes, withTables: median(milliseconds.with), withoutTables: median(milliseconds.without) };
}

export const costOf = ({ withTables, withoutTables }: Iceberg): number =>
  (1 - withTables / withoutTables) * 100;
