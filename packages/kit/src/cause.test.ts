import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { causeOfRequest, readCause, readRef, refOfCause, refText } from './cause.ts';

const own = (prefix: string) => `${prefix}_0mjuxvy9s00b8f0k3x1q2w4e`;
const uuid = '9f1c1a52-6a0e-4d43-9b6e-0d6b0a6c2f11';

describe('a cause', () => {
  it('has 40 bytes at most, with the name of its attribute', () => {
    const most = (cause: string) => Buffer.byteLength(`cause${cause}`);
    for (const id of [own('req'), uuid, 'x'.repeat(100), own('evt')])
      expect(most(causeOfRequest(id))).toBeLessThanOrEqual(40);
    for (const prefix of ['evt', 'tsk', 'turn', 'job']) expect(most(own(prefix))).toBeLessThanOrEqual(40);
  });

  it('is a request where its caller chose the id, whatever that looks like', () => {
    for (const id of [own('evt'), own('turn'), uuid, 'req_1', '~'])
      expect(readCause(causeOfRequest(id))).toEqual({ kind: 'request', id: id.slice(0, 34) });
    expect(readCause(causeOfRequest(own('req')))).toEqual({ kind: 'request', id: own('req') });
  });

  it('is nothing else', () => {
    for (const text of ['', '~', 'evt_1', own('usr'), `${own('evt')}#`, `~${'x'.repeat(35)}`, '__proto__'])
      expect(readCause(text), text).toBeUndefined();
    expect(refOfCause('nothing', 'usr_1')).toBeUndefined();
    expect(refOfCause(own('evt'), 'usr_1')).toEqual({ kind: 'event', parts: [own('evt')] });
    expect(refOfCause(own('job'), 'usr_1')).toEqual({ kind: 'job', parts: ['usr_1', own('job')] });
  });
});

describe('the text of a thing', () => {
  it('has any parts, in visible ASCII', () => {
    const part = fc.string({ minLength: 1, unit: 'grapheme' }).filter(text => text.isWellFormed());
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 5 }), parts => {
        const text = refText({ kind: 'task', parts });
        expect(text).toMatch(/^[\x21-\x7e]+$/);
        expect(readRef(text)).toEqual({ kind: 'task', parts });
      }),
    );
  });

  it('is refused otherwise', () => {
    for (const text of [
      '',
      'task',
      'task:',
      'task:/',
      'task:a//b',
      'Task:a',
      'task:%',
      'task:%ff',
      'task:a b',
    ])
      expect(readRef(text), text).toBeUndefined();
  });
});
