import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AppError } from './errors.ts';
import { createLogger, type LoggerSettings } from './log.ts';
import { manualClock } from './manual-clock.ts';

function record(settings: LoggerSettings = {}) {
  const texts: string[] = [];
  const log = createLogger({ ...settings, destination: { write: text => void texts.push(text) } });
  return { log, texts, lines: () => texts.map(text => JSON.parse(text)) };
}

describe('createLogger', () => {
  it('writes one JSON object per line with level, time and message', () => {
    const { log, texts, lines } = record({ clock: manualClock(0), base: { app: 'stak' } });
    log.info({ tasks: 2 }, 'ready');
    expect(texts[0]).toMatch(/^[^\n]+\n$/);
    expect(lines()).toEqual([
      { level: 'info', time: '1970-01-01T00:00:00.000Z', app: 'stak', tasks: 2, msg: 'ready' },
    ]);
  });

  it('writes nothing below its level', () => {
    const { log, texts } = record({ level: 'warn' });
    log.info('quiet');
    log.warn('loud');
    expect(texts).toHaveLength(1);
  });

  const names = [
    'authorization',
    'Cookie',
    'set-cookie',
    'password',
    'passwordHash',
    'clientSecret',
    'token',
  ];
  const moreNames = ['access_token', 'refreshToken', 'x-api-key', 'apiKey', 'pin'];

  it('hides secrets at every depth, in objects, lists, errors, bindings and arguments', () => {
    const name = fc.constantFrom(...names, ...moreNames);
    const path = fc.array(fc.constantFrom('a', 'list', 'map', 'error', 'json'), { maxLength: 20 });
    fc.assert(
      fc.property(name, path, fc.constantFrom('line', 'child', 'argument', 'base'), (key, steps, way) => {
        const value = steps.reduce<object>(wrap, { [key]: 'hunter2' });
        const { log, texts } = record({ redact: ['PIN'], base: way === 'base' ? { value } : {} });
        if (way === 'line') log.info({ value }, 'text');
        else if (way === 'child') log.child({ value }).child({ other: value }).info('text');
        else if (way === 'argument') log.info('value %o', value);
        else log.info('text');
        expect(texts).toHaveLength(1);
        expect(texts[0]).not.toContain('hunter2');
      }),
    );
  });

  function wrap(value: object, step: string): object {
    if (step === 'list') return [value];
    if (step === 'map') return new Map([['inside', value]]);
    if (step === 'error') return new AppError('kit.test', 'failed', value, { cause: value });
    if (step === 'json') return { toJSON: () => value };
    return { inside: value };
  }

  it('shows what only looks like a secret', () => {
    const { log, lines } = record();
    log.info({ max_tokens: 10, tokenCount: 3, keyId: 'k1', at: new Date(0) }, 'usage');
    expect(lines()[0]).toMatchObject({
      max_tokens: 10,
      tokenCount: 3,
      keyId: 'k1',
      at: '1970-01-01T00:00:00.000Z',
    });
  });

  it('prints an error, its cause and its details, and changes none of them', () => {
    const cause = Object.freeze(new TypeError('no such host'));
    const details = { host: 'a.example', authorization: 'Bearer x' };
    const error = new AppError('webhooks.unreachable', 'Not reachable', details, { cause });
    const { log, lines } = record();
    log.error(error);
    log.error({ err: error }, 'delivery failed');
    for (const line of lines())
      expect(line.err).toMatchObject({
        type: 'AppError',
        code: 'webhooks.unreachable',
        message: 'Not reachable',
        details: { host: 'a.example', authorization: '[redacted]' },
        cause: { type: 'TypeError', message: 'no such host', stack: expect.stringContaining('log.test.ts') },
      });
    expect(lines().map(line => line.msg)).toEqual(['Not reachable', 'delivery failed']);
    expect(details.authorization).toBe('Bearer x');
  });

  it('keeps an own __proto__ an ordinary name', () => {
    const { log, texts } = record();
    log.info({ body: JSON.parse('{"__proto__":{"password":"hunter2","a":1}}') }, 'odd name');
    expect(texts[0]).toContain('"body":{"__proto__":{"password":"[redacted]","a":1}}');
  });

  it('survives cycles, depth, bulk, bytes, big integers and throwing getters', () => {
    const cycle: Record<string, unknown> = { name: 'loop' };
    cycle.self = cycle;
    let deep: object = { bottom: 'unreached' };
    for (let i = 0; i < 5000; i++) deep = { deep };
    const hostile = {
      get value(): never {
        throw new Error('no value');
      },
    };
    const { log, lines } = record();
    log.info({ cycle, deep, bytes: Buffer.alloc(5), big: 10n ** 30n, many: Array(5000).fill(0) }, 'odd');
    log.info(hostile, 'hostile');
    const [odd, second] = lines();
    expect(odd.cycle).toEqual({ name: 'loop', self: '[circular]' });
    expect(JSON.stringify(odd.deep)).toContain('[too deep]');
    expect(odd.bytes).toBe('[5 bytes]');
    expect(odd.big).toBe('1000000000000000000000000000000');
    expect(odd.many).toHaveLength(1001);
    expect(second).toMatchObject({ unloggable: 'no value', msg: 'hostile' });
  });
});
