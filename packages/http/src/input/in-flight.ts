import { refuse } from '../errors.ts';
import * as limits from '../limits.ts';

// Counts by address how many requests are being served, and the memory of their bodies. Rate limits do not cover this,
// because a request that never ends is one request.
export type InFlight = {
  // Counts a request, or refuses it.
  enter(address: string): Flight;
  usage(): { requests: number; bodyBytes: number; addresses: number };
};

export type Flight = {
  // Reserves memory for the body, or refuses. `onCut` is called if the memory is needed for others before the body is
  // complete.
  take(bytes: number): void;
  reading(onCut: (error: Error) => void): void;
  complete(): void;
  freeBody(): void; // the body is no longer needed, although the request continues
  leave(): void;
};

export type InFlightLimits = { requestsPerAddress?: number; bodyBytes?: number };

type OpenBody = { bytes: number; cut: (error: Error) => void };
type Holder = { requests: number; bytes: number; bodies: Set<OpenBody> }; // bodies that are still being sent

const closing = { Connection: 'close' };
const crowded = () =>
  refuse('http.unavailable', 'Too much is being sent at the moment.', { retryAfterS: 1, headers: closing });

export function createInFlight({
  requestsPerAddress = limits.requestsPerAddressAtOnce,
  bodyBytes = limits.bodyBytesAtOnce,
}: InFlightLimits = {}): InFlight {
  const holders = new Map<string, Holder>();
  const mostOfOne = bodyBytes * limits.bodyShareOfOne;
  let used = 0;
  let requests = 0;

  const holderOf = (address: string): Holder => {
    const known = holders.get(address);
    if (known) return known;
    // Entries stay for a while: a map that gains and loses one for each request is rebuilt all the time.
    if (holders.size >= limits.idleAddresses)
      for (const [key, { requests: open }] of holders) if (open === 0) holders.delete(key);
    const holder = { requests: 0, bytes: 0, bodies: new Set<OpenBody>() };
    holders.set(address, holder);
    return holder;
  };

  // The address that holds the most bytes loses its largest body that is still being sent.
  const makeRoom = (holder: Holder, bytes: number): void => {
    while (used + bytes > bodyBytes) {
      let largest = holder;
      for (const holder of holders.values())
        if (holder.bytes > largest.bytes && holder.bodies.size > 0) largest = holder;
      if (largest.bytes <= holder.bytes + bytes) throw crowded();
      let victim: OpenBody | undefined;
      for (const body of largest.bodies) if (body.bytes > (victim?.bytes ?? 0)) victim = body;
      if (!victim) throw crowded();
      give(largest, victim);
      victim.cut(crowded());
    }
  };

  const give = (holder: Holder, held: OpenBody): void => {
    used -= held.bytes;
    holder.bytes -= held.bytes;
    held.bytes = 0;
    holder.bodies.delete(held);
  };

  return {
    usage: () => ({ requests, bodyBytes: used, addresses: holders.size }),
    enter(address) {
      const holder = holderOf(address);
      if (holder.requests >= requestsPerAddress)
        throw refuse('http.rate_limited', 'Too many requests of your address at the same time.', {
          retryAfterS: 1,
          headers: closing,
        });
      holder.requests += 1;
      requests += 1;
      let held: OpenBody | undefined;
      let isGone = false;
      return {
        reading(onCut) {
          held = { bytes: 0, cut: onCut };
          holder.bodies.add(held);
        },
        take(bytes) {
          if (!held) return;
          if (holder.bytes + bytes > mostOfOne)
            throw refuse('http.rate_limited', 'Too much is being sent by your address at the same time.', {
              retryAfterS: 1,
              headers: closing,
            });
          makeRoom(holder, bytes);
          held.bytes += bytes;
          holder.bytes += bytes;
          used += bytes;
        },
        complete() {
          if (held) holder.bodies.delete(held);
        },
        freeBody() {
          if (held) give(holder, held);
        },
        leave() {
          if (isGone) return;
          isGone = true;
          if (held) give(holder, held);
          holder.requests -= 1;
          requests -= 1;
        },
      };
    },
  };
}
