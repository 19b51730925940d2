import { createHash } from 'node:crypto';
import type { Insight } from '@stak/table';

export const insightSignature = ({ of, groups, sums, where }: Insight): string =>
  createHash('sha256')
    .update(JSON.stringify([of, groups, sums, where]))
    .digest('hex')
    .slice(0, 16);
