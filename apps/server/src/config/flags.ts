import { FlagError, UsageError } from './errors.ts';

// The command line parser returns a number for text that looks like one, and a list for a repeated flag.
export function readText(name: string, value: unknown): string {
  if (typeof value === 'number') return String(value);
  if (typeof value === 'string' && value !== '') return value;
  throw new FlagError(Array.isArray(value) ? `${name} was given twice` : `${name} needs one value`);
}

export const readOptional = (name: string, value: unknown): string | undefined =>
  value === undefined ? undefined : readText(name, value);

// `--to ann,bob` and `--to ann --to bob` are the same.
export function readList(name: string, value: unknown): string[] {
  const given = Array.isArray(value) ? value : [value];
  const list = given.flatMap(value => readText(name, value).split(',')).map(value => value.trim());
  return list.filter(value => value !== '');
}

export const readOptionalList = (name: string, value: unknown): string[] | undefined =>
  value === undefined ? undefined : readList(name, value);

export function readCount(name: string, value: unknown, otherwise: number): number {
  if (value === undefined) return otherwise;
  if (Number.isInteger(value) && (value as number) > 0) return value as number;
  throw new UsageError(`${name} needs a number of at least 1, not ${JSON.stringify(value)}`);
}

export function readWhole(name: string, value: unknown, least: number, most: number): number {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof number === 'number' && Number.isInteger(number) && number >= least && number <= most)
    return number;
  throw new UsageError(`${name} needs a number from ${least} to ${most}, not ${JSON.stringify(value)}`);
}

export function readMoment(name: string, value: unknown): Date | undefined {
  if (value === undefined) return undefined;
  const moment = new Date(readText(name, value));
  if (!Number.isNaN(moment.getTime())) return moment;
  throw new UsageError(`${name} needs a time like 2026-12-01T09:00:00Z, not ${JSON.stringify(value)}`);
}

const unitsMs: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

export function readDurationMs(name: string, value: unknown): number {
  const [, amount, unit = ''] = /^(\d{1,6})([smhd])$/.exec(readText(name, value)) ?? [];
  const ms = Number(amount) * (unitsMs[unit] ?? 0);
  if (ms > 0) return ms;
  throw new UsageError(`${name} needs a time like 90s, 10m, 1h or 7d, not ${JSON.stringify(value)}`);
}
