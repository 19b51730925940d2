import { type Clock, createRecentMap, type Sealer } from '@stak/kit';
import { z } from 'zod';
import * as limits from '../limits.ts';

// A secret, and for a while the one it replaced.
const storedSchema = z.array(z.strictObject({ secret: z.string(), untilMs: z.int().optional() }));

export type Secrets = {
  seal(secret: string, context: string): string;
  // The new one first. The previous one stays valid for a while, so that the other side has time to switch.
  rotate(sealed: string | undefined, secret: string, context: string): string;
  open(sealed: string | undefined, context: string): string[];
};

export const sourceSecretContext = (sourceId: string, field: string) =>
  `ferryhook-main/SRC#${sourceId}/${field}`;
export const connectionSecretContext = (connectionId: string) =>
  `ferryhook-main/CONN#${connectionId}/signingSecret`;

export function createSecrets({
  sealer,
  clock,
}: {
  sealer: Pick<Sealer, 'seal' | 'openText'>;
  clock: Clock;
}): Secrets {
  // Every delivery needs a secret, and opening it costs as much as signing. A sealed text never changes.
  const opened = createRecentMap<string, z.infer<typeof storedSchema>>(limits.secretsOpened);
  const read = (sealed: string | undefined, context: string) => {
    if (sealed === undefined) return [];
    const key = `${context} ${sealed}`;
    const known = opened.get(key);
    if (known) return known;
    const stored = storedSchema.parse(JSON.parse(sealer.openText(sealed, context)));
    opened.set(key, stored);
    return stored;
  };
  const isGood = ({ untilMs }: { untilMs?: number }) => untilMs === undefined || untilMs > clock.now();
  return {
    seal: (secret, context) => sealer.seal(JSON.stringify([{ secret }]), context),
    rotate(sealed, secret, context) {
      const [current] = read(sealed, context);
      const previous = current && { secret: current.secret, untilMs: clock.now() + limits.rotationMs };
      return sealer.seal(JSON.stringify(previous ? [{ secret }, previous] : [{ secret }]), context);
    },
    open: (sealed, context) =>
      read(sealed, context)
        .filter(isGood)
        .map(({ secret }) => secret),
  };
}
