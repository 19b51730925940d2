import { type NamedStep, write } from '@stak/table';
import { emailLock, identityLock } from '../table.ts';

// What a user holds that nobody else of the tenant may: an e-mail address and identities on channels.
export type Holdings = {
  email?: string;
  channel_identities: Readonly<Record<string, string>>;
};

const addressOf = ({ email }: Holdings): string | undefined => email?.toLowerCase();

// A channel may be called `constructor`, which every object has without holding it.
const identityOn = ({ channel_identities: held }: Holdings, channel: string): string | undefined =>
  Object.hasOwn(held, channel) ? held[channel] : undefined;

// The steps by which a user comes from the locks it holds to those it needs. They go into the transaction that
// writes the user, so that the two can never disagree.
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

export const nothingHeld: Holdings = { channel_identities: {} };
