import { newConnectionSchema } from '../schema.ts';

const texts = ['filters', 'transform', 'retryConfig'] as const;
const plain = ['name', 'destinationUrl', 'maxConcurrency', 'ratePerSecond', 'ordered'] as const;

/**
 * The first setting of a stored connection that no request could have made, such as a thousand retries without a delay;
 * undefined if there is none. For items that somebody else wrote.
 */
export function oddSettingOf(stored: Readonly<Record<string, unknown>>): string | undefined {
  const settings: Record<string, unknown> = {};
  for (const name of plain) if (stored[name] !== undefined) settings[name] = stored[name];
  for (const name of texts) {
    if (stored[name] === undefined) continue;
    try {
      settings[name] = JSON.parse(String(stored[name]));
    } catch {
      return name;
    }
  }
  return newConnectionSchema.safeParse(settings).error?.issues[0]?.path.join('.');
}
