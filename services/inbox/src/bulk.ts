import { AppError } from '@stak/kit';
import type { Service } from './deps.ts';
import type { Place } from './places.ts';
import { type Origin, type Published, publish } from './publish.ts';
import type { PublishBody } from './schema.ts';
import { readInbox } from './settings.ts';

export type BulkResult = { ok: true; published: Published } | { ok: false; code: string; detail: string };

// Different messages, each for itself: what is refused does not keep back the others. With a request key, a
// repetition finds those that were made, so a busy table is a reason to repeat all; without one that would send them
// twice.
export async function publishBulk(
  service: Service,
  place: Place,
  messages: readonly PublishBody[],
  origin: Origin,
): Promise<BulkResult[]> {
  await readInbox(service, place);
  const results: BulkResult[] = [];
  for (const [i, message] of messages.entries()) {
    const requestKey = origin.requestKey === undefined ? undefined : `${origin.requestKey}.${i}`;
    try {
      results.push({
        ok: true,
        published: await publish(service, place, message, { ...origin, requestKey }),
      });
    } catch (error) {
      if (!(error instanceof AppError) || (isBusy(error) && requestKey !== undefined)) throw error;
      results.push({ ok: false, code: error.code, detail: error.message });
    }
  }
  return results;
}

const isBusy = ({ code }: AppError): boolean => code === 'inbox.busy' || code === 'table.busy';
