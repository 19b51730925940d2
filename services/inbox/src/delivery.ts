import { ref, write } from '@stak/table';
import type { Service } from './deps.ts';
import { headSteps, joinedAt, memberSteps, type Step, stateSteps } from './mailbox.ts';
import type { SendContent } from './sends.ts';
import type { InboxConfig } from './settings.ts';
import { expiry, publicStats, userMessage, userStats } from './table.ts';
import { countMessage, emptyState } from './user-state.ts';

const arrived = { read: false, seen: false, archived: false, snoozed: false };

// A copy for each of some users: the message, its expiry, the user's counts. All of it is written together with
// whatever says that it was done, so nobody gets it twice.
export async function deliverySteps(
  service: Service,
  content: SendContent,
  uids: readonly string[],
  config: Pick<InboxConfig, 'late_joiners'>,
): Promise<Step[]> {
  const { store, clock } = service;
  const { tenant_key, inbox_key, id, taxonomy } = content;
  const place = { tenant_key, inbox_key };
  const refs = uids.map(uid => ref(userStats, { ...place, uid }));
  const states = await store.batchGet(refs, { consistent: true, pattern: 'states of recipients' });
  const newcomers = uids.filter((_, i) => !states[i]);
  const joining = await joinTogether(service, place, newcomers, config);

  const delivered = Math.floor(clock.now() / 1000);
  const { kind, label } = content.audiences;
  const steps: Step[] = [...joining.steps];
  for (const [i, uid] of uids.entries()) {
    const user = { tenant_key, inbox_key, uid };
    const before = states[i];
    const state = before ?? emptyState(user, joining.joined, service.ids.next());
    const touched = (before?.version ?? 0) + 1;
    const { host_system_id, sender, received, expiredat, message, body_bytes } = content;
    const copy = {
      tenant_key,
      inbox_key,
      uid,
      id,
      host_system_id,
      sender,
      audiences: { kind, label },
      received,
      delivered,
      expiredat,
      taxonomy,
      message,
      body_bytes,
      readat: null,
      seenat: null,
      archivedat: null,
      ordinal: state.added + 1,
      touched,
    };
    const mark = { category: taxonomy?.category, read: false, seen: false, archived: false, touched };
    const after = Object.assign({}, state, {
      counts: countMessage(state.counts, taxonomy?.category, arrived, 1),
      added: state.added + 1,
      next_expiry: Math.min(state.next_expiry ?? expiredat, expiredat),
    });
    steps.push(
      [`copy for ${uid}`, write.put(userMessage, copy, { ifAbsent: true })],
      [`expiry for ${uid}`, write.put(expiry, { id, expires: expiredat, ...user, ...mark })],
      ...stateSteps(before, after),
    );
  }
  return steps;
}

async function joinTogether(
  service: Service,
  place: { tenant_key: string; inbox_key: string },
  uids: readonly string[],
  { late_joiners }: Pick<InboxConfig, 'late_joiners'>,
): Promise<{ joined: number; steps: Step[] }> {
  const members = memberSteps(service, place, uids);
  if (uids.length === 0 || late_joiners === 'all') return { joined: 0, steps: members };
  const head = await service.store.get(publicStats, place, { consistent: true });
  const broadcasts = await service.broadcasts.upTo(place, head);
  return {
    joined: joinedAt(late_joiners, broadcasts, service.clock.now()),
    steps: [...members, ...headSteps(place, head, late_joiners)],
  };
}
