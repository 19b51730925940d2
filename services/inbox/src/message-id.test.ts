import { createIds, manualClock, timeOf } from '@stak/kit';
import { expect, it } from 'vitest';
import { idBoundary, idFor, messageId } from './message-id.ts';

const clock = manualClock(Date.UTC(2026, 5, 1));
const ids = createIds({ clock });

it('bounds the ids of a millisecond from below', async () => {
  const before = ids.next();
  await clock.advance(1);
  const after = ids.next();
  const boundary = idBoundary(clock.now());
  expect(before < boundary && boundary <= after).toBe(true);
});

it('makes ids for a time to come', () => {
  const later = clock.now() + 86_400_000;
  const id = idFor(ids, later);
  expect(timeOf(id)).toBe(later);
  expect(messageId.safeParse(id).success).toBe(true);
});

it.each(['', 'x', 'evt_0mjuxvy9s00aaaaaaaaaaaaa', '0mjuxvy9s00aaaaaaaaaaaa#', '0MJUXVY9S00AAAAAAAAAAAAA'])(
  'takes "%s" for no id of a message',
  text => expect(messageId.safeParse(text).success).toBe(false),
);
