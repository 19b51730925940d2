import { describe, expect, it } from 'vitest';
import { emptyReply, growReply } from '../src/index.ts';

const told = (...events: { event: string; data: unknown }[]) => events.reduce(growReply, emptyReply);
const delta = (text: string) => ({ event: 'delta', data: { text } });

describe('the answer of an agent', () => {
  it('grows piece by piece', () => {
    expect(told({ event: 'accepted', data: {} }, delta('Thr'), delta('ee.')).text).toBe('Three.');
  });

  it('starts again when another model does', () => {
    const skill = { event: 'skill', data: { name: 'usage' } };
    const restarted = told(skill, delta('Fo'), { event: 'restart', data: {} }, delta('Three.'));
    expect(restarted).toEqual({ ...emptyReply, text: 'Three.' });
  });

  it('shows that an approval is needed', () => {
    const waiting = { event: 'waiting', data: { approvals: [] } };
    expect(told(waiting).isWaiting).toBe(true);
    expect(told(waiting, { event: 'resumed', data: { approvals: [] } }).isWaiting).toBe(false);
  });

  it('knows its turn, or why there is none', () => {
    expect(told(delta('Three.'), { event: 'reply', data: { seq: 7 } }).seq).toBe(7);
    expect(told({ event: 'error', data: { detail: 'No model.' } }).failure).toBe('No model.');
  });
});
