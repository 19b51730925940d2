import { StakError } from '@stak/client';

// Advice on a failed query, in addition to the lake's own message.
const advice: Readonly<Record<string, string>> = {
  'lake.sql_invalid':
    'The tables and their columns are listed here; a name with capitals needs double quotes.',
  'lake.sql_forbidden': 'Only reading is possible: one SELECT over the tables listed here.',
  'lake.sql_failed': 'A value did not fit. try_cast(…) gives null instead of failing.',
  'lake.query_too_large': 'Take fewer rows or columns: add a where or a limit, or group them.',
  'lake.query_too_slow': 'A query may take ten seconds. Narrow it with a where, or ask for fewer columns.',
  'lake.busy': 'Others are asking too. Run it again in a moment.',
  'http.rate_limited': 'That was a lot of queries. Run it again in a minute.',
};

export const adviseOn = (error: unknown): string | undefined =>
  error instanceof StakError ? advice[error.code] : undefined;
