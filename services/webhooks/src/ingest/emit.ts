import { webhookErrors } from '../errors.ts';
import type { HookRequest } from '../filters/request-view.ts';
import { isoTime } from '../tables.ts';
import { type AcceptDeps, acceptEvent } from './ingest.ts';

// Something that happened in Stak.
export type StakEvent = {
  type: string; // like `task.reminder`
  id: string; // unique within its type; emitting it again has no effect
  at: number; // in milliseconds
  data: object;
};

// Stores an event in every source of the account with the provider `stak`. It can be repeated: a source that has the
// event already keeps it as it is.
export type Emit = (accountId: string, event: StakEvent) => Promise<void>;

// Errors that a retry would not change: the account has chosen so, or has reached a limit.
const permanent = new Set<string>([
  'webhooks.source_not_found',
  'webhooks.source_paused',
  'webhooks.quota_exceeded',
  'webhooks.storage_limit_reached',
  'webhooks.body_too_large',
]);

export const createEmit =
  (deps: AcceptDeps): Emit =>
  async (accountId, event) => {
    const refusals = new Set<string>();
    const received = { request: requestOf(event), dedupeId: `${event.type}:${event.id}` };
    for (const view of await deps.sourceCache.listStakSources(accountId)) {
      // Every change counts as an event of the plan, so a source must opt in.
      if (event.type.startsWith('audit.') && !view.source.auditTrail) continue;
      try {
        await acceptEvent(deps, received, view, 'emit');
      } catch (error) {
        if (!webhookErrors.includes(error) || !permanent.has(error.code)) throw error;
        refusals.add(error.code);
      }
    }
    if (refusals.size > 0) {
      const { type, id } = event;
      deps.log.info({ account_id: accountId, type, id, refusals: [...refusals] }, 'could not store an event');
    }
  };

// In the format of Standard Webhooks, as if a provider had sent it.
const requestOf = ({ type, at, data }: StakEvent): HookRequest => ({
  method: 'POST',
  headers: [['content-type', 'application/json']],
  query: '',
  body: new TextEncoder().encode(JSON.stringify({ type, timestamp: isoTime(at), data })),
});
