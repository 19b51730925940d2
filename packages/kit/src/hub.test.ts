import { expect, it } from 'vitest';
import { createHub } from './hub.ts';
import { manualClock } from './manual-clock.ts';

const never = new AbortController().signal;

it('wakes the subscribers of a key, and no others', async () => {
  const hub = createHub(manualClock());
  const [ann, bob] = [hub.subscribe(['ann', 'everyone']), hub.subscribe(['bob', 'everyone'])];
  expect(hub.subscribers()).toBe(2);
  const woken: string[] = [];
  const waits = [
    ann.wait(1000, never).then(() => woken.push('ann')),
    bob.wait(1000, never).then(() => woken.push('bob')),
  ];
  hub.notify('ann');
  await waits[0];
  expect(woken).toEqual(['ann']);
  hub.notifyAll();
  await waits[1];
  ann.close();
  bob.close();
  expect(hub.subscribers()).toBe(0);
});

it('remembers a notification for a subscriber that is busy', async () => {
  const hub = createHub(manualClock());
  const subscriber = hub.subscribe(['ann']);
  hub.notify('ann');
  await subscriber.wait(1000, never);
});

it('reports a new subscriber', async () => {
  const hub = createHub(manualClock());
  const waiting = hub.subscribed.wait(1000, never);
  hub.subscribe(['ann']);
  await waiting;
});
