import { type Clock, createRecentMap, type Sealer } from '@stak/kit';
import { z } from 'zod';
import * as limits from './limits.ts';

// One secret, and for a while the one it replaced.
const storedSchema = z.array(z.strictObject({ secret: z.string(), untilMs: z.int().optional() }));

export type Secrets = {
  seal(secret: string, place: string): string;
  // The new one first; the one before it stays good until its receivers or senders had time to follow.
  rotate(sealed: string | undefined, secret: string, place: string): string;
  open(sealed: string | undefined, place: string): string[];
};

export const sourcePlace = (sourceId: string, field: string) => `ferryhook-main/SRC#${sourceId}/${field}`;
export const connectionPlace = (connectionId: string) => `ferryhook-main/CONN#${connectionId}/signingSecret`;

export function createSecrets({
  sealer,
  clock,
}: {
  sealer: Pick<Sealer, 'seal' | 'openText'>;
  clock: Clock;
}): Secrets {
  // Every delivery needs one, and opening it costs as much as signing does. What was sealed never changes.
  const opened = createRecentMap<string, z.infer<typeof storedSchema>>(limits.secretsOpened);
  const read = (sealed: string | undefined, place: string) => {
    if (sealed === undefined) return [];
    const key = `${place} ${sealed}`;
    const known = opened.get(key);
    if (known) return known;
    const stored = storedSchema.parse(JSON.parse(sealer.openText(sealed, place)));
    opened.set(key, stored);
    return stored;
  };
  const isGood = ({ untilMs }: { untilMs?: number }) => untilMs === undefined || untilMs > clock.now();
  return {
    seal: (secret, place) => sealer.seal(JSON.stringify([{ secret }]), place),
    rotate(sealed, secret, place) {
      const [current] = read(sealed, place);
      const previous = current && { secret: current.secret, untilMs: clock.now() + limits.rotationMs };
      return sealer.seal(JSON.stringify(previous ? [{ secret }, previous] : [{ secret }]), place);
    },
    open: (sealed, place) =>
      read(sealed, place)
        .filter(isGood)
        .map(({ secret }) => secret),
  };
}
