import { type Acceptance, acceptEvent } from './acceptance.ts';
import type { Config } from './config.ts';
import { isoTime } from './deps.ts';
import { webhookErrors } from './errors.ts';
import type { HookRequest } from './filters/request-view.ts';

// Something that happened in Stak.
export type StakEvent = {
  type: string; // like `task.reminder`
  id: string; // among those of its type; whoever emits it again, emits the same event
  at: number; // in milliseconds
  data: object;
};

// Takes an event into every source of the account that listens to Stak. It can be repeated: a source that has the
// event already keeps it as it is.
export type Emit = (accountId: string, event: StakEvent) => Promise<void>;

// Another attempt would not change these: the account has chosen so, or has used up what it has.
const lasting = new Set<string>([
  'webhooks.source_paused',
  'webhooks.quota_exceeded',
  'webhooks.storage_limit_reached',
  'webhooks.body_too_large',
]);

export const createEmit =
  (deps: Acceptance & { config: Config }): Emit =>
  async (accountId, event) => {
    const refusals = new Set<string>();
    const arrived = { request: requestOf(event), dedupeId: `${event.type}:${event.id}` };
    for (const { source, connections } of await deps.config.ofStak(accountId)) {
      try {
        await acceptEvent(deps, { ...arrived, source }, connections);
      } catch (error) {
        if (!webhookErrors.includes(error) || !lasting.has(error.code)) throw error;
        refusals.add(error.code);
      }
    }
    if (refusals.size > 0) {
      const { type, id } = event;
      deps.log.info({ account_id: accountId, type, id, refusals: [...refusals] }, 'an event was not taken');
    }
  };

// The shape of Standard Webhooks, as if somebody had sent it.
const requestOf = ({ type, at, data }: StakEvent): HookRequest => ({
  method: 'POST',
  headers: [['content-type', 'application/json']],
  query: '',
  body: new TextEncoder().encode(JSON.stringify({ type, timestamp: isoTime(at), data })),
});
