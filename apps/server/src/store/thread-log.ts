import type { Logger } from '@stak/kit';

// A line of a thread's logger, which has removed secrets already.
export function relayLine(log: Logger, line: string): void {
  const { level, time: _, msg, ...rest } = JSON.parse(line) as Record<string, unknown>;
  const method = level === 'error' || level === 'warn' || level === 'debug' ? level : 'info';
  log[method](rest, String(msg ?? ''));
}
