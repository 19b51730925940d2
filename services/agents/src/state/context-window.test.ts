import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dropOrphans, windowOf } from './context-window.ts';
import {
  headMessages,
  type Message,
  type Part,
  type PlainMessage,
  splitTurns,
  splitWritten,
  writeMessage,
} from './message-format.ts';

const part: fc.Arbitrary<Part> = fc.oneof(
  fc.string({ maxLength: 40 }).map((text): Part => ({ type: 'text', text })),
  fc.nat(4).map((n): Part => ({ type: 'tool-call', toolCallId: `${n}`, toolName: 'x', input: {} })),
  fc.nat(4).map(
    (n): Part => ({
      type: 'tool-result',
      toolCallId: `${n}`,
      toolName: 'x',
      output: { type: 'json', value: n },
    }),
  ),
);
const turn: fc.Arbitrary<Message[]> = fc
  .tuple(fc.string({ maxLength: 200 }), fc.array(part, { maxLength: 6 }))
  .map(([content, parts]) => [
    { role: 'user', content },
    { role: 'assistant', content: parts.filter(({ type }) => type !== 'tool-result') },
    { role: 'tool', content: parts.filter(({ type }) => type === 'tool-result') },
  ]);

const idsOf = (messages: readonly Message[], type: string): string[] =>
  messages.flatMap(({ content }) =>
    typeof content === 'string'
      ? []
      : content.flatMap(one => (one.type === type ? [(one as { toolCallId: string }).toolCallId] : [])),
  );

describe('the window', () => {
  it('has the newest whole turns that fit, without orphaned messages', () => {
    fc.assert(
      fc.property(fc.array(turn, { maxLength: 10 }), fc.nat(30), fc.nat(500), (turns, messages, tokens) => {
        const window = windowOf(turns, { messages, tokens });
        expect(window.length).toBeLessThanOrEqual(messages);
        const whole = turns.map(dropOrphans);
        const ends = whole.map((_, i) => whole.slice(i).flat());
        expect([...ends, []]).toContainEqual(window);
        for (const one of whole)
          expect(new Set(idsOf(one, 'tool-call'))).toEqual(new Set(idsOf(one, 'tool-result')));
      }),
    );
  });

  it('includes the next older turn exactly if it fits', () => {
    const turns = [1, 2, 3].map((n): Message[] => [
      { role: 'user', content: `q${n}` },
      { role: 'assistant', content: `a${n}` },
    ]);
    const sizes = [0, 1, 2, 3, 4, 5, 6].map(messages => windowOf(turns, { messages, tokens: 1000 }).length);
    expect(sizes).toEqual([0, 0, 2, 2, 4, 4, 6]);
    expect(windowOf(turns, { messages: 6, tokens: 20 })).toHaveLength(4); // five tokens a message
  });
});

describe('the documented item', () => {
  const said = (n: number, content = 'x') => [
    { role: 'user' as const, content: `q${n}` },
    { role: 'assistant' as const, content },
  ];

  const messagesOf = (turns: PlainMessage[][], most: number): string =>
    headMessages(
      turns.map(turn => turn.map(writeMessage)),
      most,
    );

  it('has the newest whole turns, within its bounds, and never less than one', () => {
    const many = Array.from({ length: 100 }, (_, n) => said(n));
    expect(JSON.parse(messagesOf(many, 20))).toEqual(many.slice(90).flat());
    expect(JSON.parse(messagesOf(many, 0))).toEqual(many.at(-1));
    const long = Array.from({ length: 10 }, (_, n) => said(n, 'x'.repeat(10_000)));
    expect(JSON.parse(messagesOf(long, 20))).toHaveLength(6);
    expect(JSON.parse(messagesOf([said(1, 'x'.repeat(50_000))], 20))).toHaveLength(2);
  });

  it('is split into its messages, whatever they contain', () => {
    const pieces = ['{"role":"user","content":"', ',{"role":"', '[', ']', '\\', '"', '\u2028', 'text'];
    const content = fc.array(fc.constantFrom(...pieces)).map(parts => parts.join(''));
    const role = fc.constantFrom<PlainMessage['role']>('user', 'assistant', 'system');
    fc.assert(
      fc.property(fc.array(fc.record({ role, content: fc.oneof(content, fc.string()) })), messages => {
        const written = messages.map(writeMessage);
        expect(splitWritten(headMessages([written], 0))).toEqual(written);
      }),
    );
  });

  it('is split into turns where the user speaks', () => {
    const roles = ['assistant', 'user', 'user', 'assistant', 'tool', 'assistant', 'user'];
    const turns = splitTurns(roles.map(role => ({ role })));
    expect(turns.map(turn => turn.length)).toEqual([1, 5, 1]);
  });
});
