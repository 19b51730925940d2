import { createHash } from 'node:crypto';
import { type NamedStep, write } from '@stak/table';
import { emailLock, identityLock } from '../tables.ts';

// An e-mail address and identities on channels are unique to a user within the tenant.
export type Holdings = {
  email?: string;
  channel_identities: Readonly<Record<string, string>>;
};

// One open invitation for each address: its id is derived from it, so that it is found when the user goes.
export const invitationIdOf = (tenant_id: string, email: string): string =>
  `inv_${createHash('sha256').update(`${tenant_id} ${email.toLowerCase()}`).digest('hex').slice(0, 24)}`;

const addressOf = ({ email }: Holdings): string | undefined => email?.toLowerCase();

// A channel may be called `constructor`, which every object inherits.
const identityOn = ({ channel_identities: held }: Holdings, channel: string): string | undefined =>
  Object.hasOwn(held, channel) ? held[channel] : undefined;

// The steps from the locks that a user holds to those it needs. They are part of the transaction that writes the user,
// so the two never disagree.
export function lockSteps(
  owner: { tenant_id: string; user_id: string },
  before: Holdings,
  after: Holdings,
): NamedStep[] {
  const { tenant_id, user_id } = owner;
  const steps: NamedStep[] = [];
  const [oldEmail, newEmail] = [addressOf(before), addressOf(after)];
  if (oldEmail !== newEmail) {
    if (oldEmail !== undefined)
      steps.push(['let go of the e-mail', write.delete(emailLock, { tenant_id, email: oldEmail })]);
    if (newEmail !== undefined)
      steps.push([
        'hold the e-mail',
        write.put(emailLock, { tenant_id, email: newEmail, user_id }, { ifAbsent: true }),
      ]);
  }
  const channels = new Set([
    ...Object.keys(before.channel_identities),
    ...Object.keys(after.channel_identities),
  ]);
  for (const channel of channels) {
    const [old, identity] = [identityOn(before, channel), identityOn(after, channel)];
    if (old === identity) continue;
    if (old !== undefined)
      steps.push([
        `let go of the identity on ${channel}`,
        write.delete(identityLock, { tenant_id, channel, identity: old }),
      ]);
    if (identity !== undefined)
      steps.push([
        `hold the identity on ${channel}`,
        write.put(identityLock, { tenant_id, channel, identity, user_id }, { ifAbsent: true }),
      ]);
  }
  return steps;
}

// Returns what a user has after a change and had not before.
export const newlyHeld = (before: Holdings, after: Holdings): Holdings => ({
  ...(addressOf(before) !== addressOf(after) && { email: after.email }),
  channel_identities: Object.fromEntries(
    Object.entries(after.channel_identities).filter(
      ([channel, identity]) => identityOn(before, channel) !== identity,
    ),
  ),
});

export const nothingHeld: Holdings = { channel_identities: {} };
