import { findDynamoDbLocal } from './contestants/dynamodb-local.ts';
import { findDynoxide } from './contestants/dynoxide.ts';
import type { OperationName } from './operations.ts';

export const contestantNames = [
  'in-process',
  'http-server',
  'dynoxide',
  'dynalite',
  'dynamodb-local',
  'raw-lmdb',
] as const;
export type ContestantName = (typeof contestantNames)[number];

export const titles: Record<ContestantName, string> = {
  'in-process': 'Stak in process',
  'http-server': 'Stak over HTTP',
  dynoxide: 'dynoxide',
  dynalite: 'dynalite',
  'dynamodb-local': 'DynamoDB Local',
  'raw-lmdb': 'raw lmdb',
};

export const moduleOf = (name: ContestantName): string =>
  new URL(`./contestants/${name}.ts`, import.meta.url).href;

// dynalite has no transactions.
export const supports = (name: string, operation: OperationName): boolean =>
  name !== 'dynalite' || operation !== 'transaction';

// Why a contestant cannot take part; undefined if it can.
export function absence(name: ContestantName): string | undefined {
  if (name === 'dynoxide' && !findDynoxide()) return '@dynoxide/linux-x64 is not installed';
  if (name === 'dynamodb-local' && !findDynamoDbLocal()) return 'DYNAMODB_LOCAL does not name its jar';
  return undefined;
}

// The targets refer to these, so they must be present on the platform where the targets were set.
export const isRequired = (name: ContestantName): boolean =>
  name !== 'dynamodb-local' && process.platform === 'linux' && process.arch === 'x64';
