import { createIds, manualClock } from '@stak/kit';
import { expect, it } from 'vitest';
import { createHub } from './live-answers.ts';

const clock = manualClock();
const ids = createIds({ clock });
const never = () => new AbortController().signal; // one each: a signal warns of many listeners
const addresses = Array.from({ length: 200 }, (_, i) => ({
  tenant_id: 'acme',
  conversation_id: `c${i}`,
  message_id: 'm',
}));

// How many of them continue in one iteration of the event loop, at most.
async function mostTogether(waits: readonly Promise<void>[], wake: () => void): Promise<number> {
  const woken: number[] = [0];
  const count = () => {
    woken.push(0);
    counting = setImmediate(count);
  };
  let counting = setImmediate(count);
  const counted = waits.map(async wait => {
    await wait;
    woken[woken.length - 1]! += 1;
  });
  wake();
  await Promise.all(counted);
  clearImmediate(counting);
  return Math.max(...woken);
}

it('wakes those who wait for the outcomes of many messages a few at a time', async () => {
  const hub = createHub(clock, ids);
  const waits = addresses.map(address => hub.listen(address).wait(1000, never()));
  expect(await mostTogether(waits, hub.settleAll)).toBeLessThanOrEqual(20);
});

it('wakes those who follow many answers a few at a time', async () => {
  const hub = createHub(clock, ids);
  const lives = addresses.map(address => hub.open([address]));
  const waits = lives.map(live => live.next(1000, never()));
  const push = () => {
    for (const live of lives) live.push({ event: 'delta', data: { text: 'Once ' } });
  };
  expect(await mostTogether(waits, push)).toBeLessThanOrEqual(20);
});
