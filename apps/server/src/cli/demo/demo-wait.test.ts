import { beforeEach, expect, it, vi } from 'vitest';
import { waitForDemo } from './demo-wait.ts';

const demo = { email: 'demo@example.com', password: 'secret', isFilled: false };
const filled = { ...demo, isFilled: true };
let pauses = 0;
const pause = async () => {
  pauses += 1;
};
beforeEach(() => {
  pauses = 0;
  vi.spyOn(console, 'error').mockImplementation(() => {});
});

it('waits for a workspace that is being created, however slowly', async () => {
  expect(await waitForDemo(async () => (pauses < 5 ? undefined : pauses < 100 ? demo : filled), pause)).toBe(
    filled,
  );
});

it('tells a workspace that takes too long from one that does not exist', async () => {
  expect(await waitForDemo(async () => demo, pause)).toBe('unfinished');
  pauses = 0;
  expect(await waitForDemo(async () => undefined, pause)).toBe('absent');
  expect(pauses).toBe(20);
});
