import { UsageError } from './errors.ts';

// One origin or several, as a repeated flag or separated by commas.
export function readOrigins(given: unknown): string[] {
  const texts = given === undefined ? [] : Array.isArray(given) ? given : [given];
  const origins = texts
    .flatMap(text => String(text).split(','))
    .map(origin => origin.trim())
    .filter(Boolean);
  for (const origin of origins) {
    if (origin === '*' || (URL.canParse(origin) && new URL(origin).origin === origin)) continue;
    throw new UsageError(`--allow-origin: ${origin} is no origin; write it like http://localhost:5173`);
  }
  return origins;
}
