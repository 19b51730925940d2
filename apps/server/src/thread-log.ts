import type { Logger } from '@stak/kit';

// A line as a thread's logger made it: nothing secret is in it any more.
export function relayLine(log: Logger, line: string): void {
  const { level, time: _, msg, ...rest } = JSON.parse(line) as Record<string, unknown>;
  const method = level === 'error' || level === 'warn' || level === 'debug' ? level : 'info';
  log[method](rest, String(msg ?? ''));
}
