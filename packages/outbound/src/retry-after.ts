/**
 * How long a server asks its callers to wait: seconds, or a date (RFC 9110, 10.2.3); undefined for anything else.
 *
 *     readRetryAfter('120', clock.now()); // 120_000
 */
export function readRetryAfter(value: string | undefined, nowMs: number): number | undefined {
  if (value === undefined) return undefined;
  const text = value.trim();
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  if (!/^[A-Z][a-z]{2,8},? /.test(text)) return undefined;
  // Dates have three forms, of which the oldest, `Sun Nov  6 08:49:37 1994`, does not name its zone (RFC 9110, 5.6.7).
  const hasNoZone = /[ :]\d+$/.test(text); // it ends with the year or the time
  const date = Date.parse(hasNoZone ? `${text} GMT` : text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - nowMs);
}
