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

it('wakes many subscribers of a key a few at a time, and lets other work run in between', async () => {
  const hub = createHub(manualClock());
  const woken: number[] = [];
  let iteration = 0;
  const count = () => {
    iteration += 1;
    counting = setImmediate(count);
  };
  let counting = setImmediate(count);
  const waits = Array.from({ length: 200 }, () =>
    hub
      .subscribe(['everyone'])
      .wait(1000, new AbortController().signal)
      .then(() => woken.push(iteration)),
  );
  hub.notify('everyone');
  await Promise.all(waits);
  clearImmediate(counting);
  const together = Array.from({ length: iteration + 1 }, (_, i) => woken.filter(one => one === i).length);
  expect(Math.max(...together)).toBeLessThanOrEqual(20);
});
