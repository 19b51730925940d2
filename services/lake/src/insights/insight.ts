import { createHash } from 'node:crypto';
import type { AnyEntity } from '@stak/table';

// A question that is answered from sums kept beside the data. Every sum is over groups, and sums of parts add up:
// that is what lets an answer be as new as the last change without reading all rows again.

export type InsightRow = Record<string, string | number | null>;

export type Insight = {
  readonly name: string;
  readonly description: string;
  readonly entity: AnyEntity;
  // Items that are there now; those and the ones whose time ran out; or every change.
  readonly of: 'present' | 'kept' | 'changes';
  // SQL over the entity's columns, and over _kind, _at, _account, _tenant and _user.
  readonly groups: Readonly<Record<string, string>>;
  readonly sums: Readonly<Record<string, string>>;
  readonly where?: string;
  // The group that holds a day, if an answer is to be about the last days only.
  readonly day?: string;
  readonly answer?: (rows: readonly InsightRow[], about: { today: string }) => readonly InsightRow[];
};

export const insightSignature = ({ of, groups, sums, where }: Insight): string =>
  createHash('sha256')
    .update(JSON.stringify([of, groups, sums, where]))
    .digest('hex')
    .slice(0, 16);
