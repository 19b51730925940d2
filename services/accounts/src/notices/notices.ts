import type { Sealer } from '@stak/kit';
import { failedCondition, type ItemOf, isConflict, ref, type WriteStep, write } from '@stak/table';
import { isOpen, type Memberships } from '../access/memberships.ts';
import { membersOf } from '../access/tables.ts';
import { type Base, inSeconds } from '../deps.ts';
import { type Profile, profile } from '../main-table.ts';
import type { Role } from '../roles.ts';
import { type MailTopic, mailTopics } from '../schema.ts';
import { settle } from '../settle.ts';
import type { Users } from '../users/users.ts';
import * as limits from './limits.ts';
import type { Outbox } from './outbox.ts';
import { failureDigest, mailedNotice, type OutgoingMail } from './tables.ts';
import { greeted } from './texts.ts';

type Topic = MailTopic | 'payments';
type Details = Readonly<Record<string, string>>;
type Steps = Record<string, WriteStep>;

// Who can act on a notice, and whether their address must be verified: nobody may cause mail to a stranger's address.
const topics = {
  deliveries: { kind: 'deliveries.failing', roles: ['owner', 'admin', 'member'], isForVerified: true },
  limits: { kind: 'limit.reached', roles: ['owner', 'admin'], isForVerified: true },
  payments: { kind: 'payment.failed', roles: ['owner'], isForVerified: false },
} as const satisfies Record<Topic, { kind: string; roles: readonly Role[]; isForVerified: boolean }>;

// Mails to the members of an account. A notice is written as one request, which a worker resolves to recipients.
export type Notices = {
  // A plan limit is near. Each key is mailed once, however often and from however many processes it is reported.
  limitReached(accountId: string, notice: { key: string; title: string; body: string }): Promise<void>;
  // Deliveries are failing. Gathered into a digest: at most one mail an hour.
  deliveriesFail(accountId: string, notice: { key: string; line: string }): Promise<void>;
  // Steps for the transaction that records the failure.
  paymentFailed(accountId: string, details: Details): Steps;
  // The mails that a request resolves to.
  resolve(request: OutgoingMail): Promise<Steps>;
  // The person and topic of an unsubscribe link; undefined if the token is not ours.
  openUnsubscribeToken(token: string): { userId: string; topic: MailTopic } | undefined;
};

type NoticeDeps = Base & { users: Users; memberships: Memberships; outbox: Outbox; sealer: Sealer };

const tokenLocation = 'mail/unsubscribe';

export function createNotices(deps: NoticeDeps): Notices {
  const { store, clock, ids, outbox, sealer } = deps;
  const request = (accountId: string, topic: Topic, details: Details = {}, atMs?: number) =>
    outbox.steps({ kind: 'notice.due', to: '', userId: accountId, details: { ...details, topic }, atMs });
  const claim = (accountId: string, noticeKey: string) =>
    write.put(
      mailedNotice,
      {
        accountId,
        noticeKey,
        mailId: ids.next('mal'),
        expiresAt: expiryOf(clock.now()),
      },
      { ifAbsent: true },
    );

  // Appends a line, on the condition that the digest has not been extended or mailed meanwhile.
  const gather = async (accountId: string, key: string, line: string) => {
    const nowMs = clock.now();
    const found = await store.get(failureDigest, { accountId }, { consistent: true });
    const { lines = [], more = 0, mailedAtMs } = found ?? {};
    const asked = found?.dueAtMs ?? 0;
    const isAsked = asked > nowMs - limits.digestLostMs;
    const dueAtMs = isAsked
      ? asked
      : Math.max(nowMs + limits.gatherMs, (mailedAtMs ?? 0) + limits.digestEveryMs);
    const isFull = lines.length >= limits.digestLines;
    const digest = {
      accountId,
      lines: isFull ? lines : [...lines, line],
      more: isFull ? more + 1 : more,
      dueAtMs,
      mailedAtMs,
      expiresAt: expiryOf(nowMs),
    };
    return {
      'the notice': claim(accountId, key),
      'the digest': write.put(failureDigest, digest, onlyAfter(found)),
      ...(!isAsked && request(accountId, 'deliveries', {}, dueAtMs)),
    };
  };

  // Skips a notice that was already sent, and retries after a conflict.
  const once = async (make: () => Steps | Promise<Steps>): Promise<void> => {
    if (!outbox.isOpen) return;
    const send = async () => {
      await store.transact(await make(), { pattern: 'mail a notice' }).catch(error => {
        if (!failedCondition(error, 'the notice')) throw error;
      });
    };
    await settle(send, isConflict, limits.noticeAttempts);
  };

  return {
    async limitReached(accountId, { key, title, body }) {
      await once(() => ({
        'the notice': claim(accountId, key),
        ...request(accountId, 'limits', { title, body }),
      }));
      outbox.wake();
    },

    deliveriesFail: (accountId, { key, line }) => once(() => gather(accountId, key, line)),

    paymentFailed: (accountId, details) => request(accountId, 'payments', details),

    async resolve({ userId: accountId, details: { topic: asked = '', after, ...given } }) {
      const account = await deps.users.readProfile(accountId);
      if (!(asked in topics) || !isOpen(account)) return {};
      const topic = asked as Topic;
      const isFirst = after === undefined;
      const digest = topic === 'deliveries' && isFirst ? await takeDigest(deps, accountId) : undefined;
      if (digest && digest.lines.length === 0) return {};
      const facts = { ...given, ...(digest && textOf(digest)) };
      const page = await readMembers(deps, account, after);
      const organisation = (await deps.memberships.read(accountId))?.name ?? account.name;
      const mails = page.people
        .filter(person => isWanted(topic, person))
        .map(({ person, role }) => ({
          kind: topics[topic].kind,
          to: person.email,
          userId: person.userId,
          details: { ...facts, ...greeted(person), role, organisation },
          ...(topic !== 'payments' && { token: sealer.seal(`${person.userId} ${topic}`, tokenLocation) }),
        }));
      const rest = page.next === undefined ? {} : request(accountId, topic, { ...facts, after: page.next });
      return { ...digest?.steps, ...outbox.steps(...mails), ...rest };
    },

    openUnsubscribeToken(token) {
      try {
        const [userId = '', topic = ''] = sealer.openText(token, tokenLocation).split(' ');
        return isTopic(topic) ? { userId, topic } : undefined;
      } catch {
        return undefined;
      }
    },
  };
}

type Digest = ItemOf<typeof failureDigest>;

const expiryOf = (nowMs: number): number => inSeconds(nowMs) + limits.noticeS;

const onlyAfter = (digest: Digest | undefined) =>
  digest ? { ifVersion: digest.version } : { ifAbsent: true as const };

async function takeDigest({ store, clock }: NoticeDeps, accountId: string) {
  const digest = await store.get(failureDigest, { accountId }, { consistent: true });
  const nowMs = clock.now();
  const taken = { accountId, lines: [], more: 0, mailedAtMs: nowMs, expiresAt: expiryOf(nowMs) };
  const { lines = [], more = 0 } = digest ?? {};
  return { lines, more, steps: { 'the digest': write.put(failureDigest, taken, onlyAfter(digest)) } };
}

const textOf = ({ lines, more }: Pick<Digest, 'lines' | 'more'>): Details => ({
  ...Object.fromEntries(lines.map((line, i) => [`line${i}`, line])),
  more: String(more),
});

type Member = { person: Profile; role: Role };

// An account without any memberships has its own person as its only member.
async function readMembers(
  { store }: NoticeDeps,
  account: Profile,
  after: string | undefined,
): Promise<{ people: Member[]; next?: string }> {
  const { userId: accountId } = account;
  const range = after === undefined ? {} : { after: { userId: after } };
  const { items, cursor } = await store.query(
    membersOf,
    { accountId },
    { limit: limits.recipientsAtOnce, ...range },
  );
  if (items.length === 0 && after === undefined) return { people: [{ person: account, role: 'owner' }] };
  const profiles = await store.batchGet(
    items.map(({ userId }) => ref(profile, { userId })),
    { consistent: true, pattern: 'people of an organisation' },
  );
  const people = items.flatMap(({ role }, i) => {
    const person = profiles[i];
    return role !== undefined && isOpen(person) ? [{ person, role }] : [];
  });
  return { people, ...(cursor !== undefined && { next: items.at(-1)!.userId }) };
}

function isWanted(topic: Topic, { person, role }: Member): boolean {
  const { roles, isForVerified } = topics[topic];
  if (!roles.some(one => one === role) || person.isOrganisation) return false;
  const isOff = person.mailsOff?.some(mail => mail === topic) ?? false;
  return !isOff && (!isForVerified || person.emailVerified === true);
}

const isTopic = (text: string): text is MailTopic => mailTopics.some(known => known === text);

export const wantedMails = (off: readonly MailTopic[] = []): Record<MailTopic, boolean> => ({
  deliveries: !off.includes('deliveries'),
  limits: !off.includes('limits'),
});

export const switchMails = (
  off: readonly MailTopic[] | undefined,
  change: Readonly<Partial<Record<MailTopic, boolean>>> = {},
): MailTopic[] => mailTopics.filter(topic => !(change[topic] ?? wantedMails(off)[topic]));
