import type { OutboundResult } from '@stak/outbound';
import { expect, it } from 'vitest';
import * as limits from '../limits.ts';
import { describeFailure, responseText } from './attempt.ts';

const answered = (text: string) =>
  ({ ok: true, status: 200, headers: {}, body: new TextEncoder().encode(text) }) as unknown as OutboundResult;

// Half a character would be refused by the table, the attempt would never be recorded, and the delivery made again.
it('truncates a response between two characters', () => {
  const most = 'x'.repeat(limits.responseChars - 1);
  expect(responseText(answered(`${most}💥 and more`))).toBe(most);
  expect(responseText(answered('💥'.repeat(limits.responseChars)))).toBe(
    '💥'.repeat(limits.responseChars / 2),
  );
  expect(responseText(answered(''))).toBeUndefined();
});

it('truncates an error the same way', () => {
  const failed = { ok: false, reason: 'connect', message: `${'💥'.repeat(limits.errorChars)}` };
  expect(describeFailure(failed as unknown as OutboundResult)?.isWellFormed()).toBe(true);
});
