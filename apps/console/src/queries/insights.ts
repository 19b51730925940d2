import type { ApiTypes } from '@stak/client';
import { keepPreviousData } from '@tanstack/react-query';
import { useAnswer } from './answers.ts';
import { client } from './api.ts';
import { paced } from './pace.ts';

export type Insight = ApiTypes['insights.read']['data'];
export type InsightRow = Insight['data'][number];

// While the lake is behind, the page asks again.
export const useInsight = (name: string, days: number) =>
  useAnswer(['insights', name, days], () => client.insights.read({ name, days }), {
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => state.data?.caught_up === false && paced(5_000, 300_000)(),
  });

const dayMs = 86_400_000;

// The last days in UTC, as in the lake, oldest first.
export const lastDays = (count: number, nowMs = Date.now()): string[] =>
  Array.from({ length: count }, (_, index) =>
    new Date(nowMs - (count - 1 - index) * dayMs).toISOString().slice(0, 10),
  );

// A number for each day, undefined if there is none.
export function byDay(rows: readonly InsightRow[], column: string, days: readonly string[]): number[] {
  const known = new Map<unknown, number>();
  for (const row of rows) known.set(row.day, (known.get(row.day) ?? 0) + Number(row[column] ?? 0));
  return days.map(day => known.get(day) ?? 0);
}

export const total = (rows: readonly InsightRow[], column: string): number =>
  rows.reduce((sum, row) => sum + Number(row[column] ?? 0), 0);
