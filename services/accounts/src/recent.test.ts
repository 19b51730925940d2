import { manualClock } from '@stak/kit';
import { describe, expect, it } from 'vitest';
import { createRecent } from './recent.ts';

describe('a cached read', () => {
  const open = () => {
    const clock = manualClock();
    const recent = createRecent<string>({ clock, mostMs: 2000 });
    let reads = 0;
    const read = async (value: string | undefined = 'value') => {
      reads += 1;
      return value;
    };
    return { clock, recent, read, reads: () => reads };
  };

  it('is not repeated until it expires', async () => {
    const { clock, recent, read, reads } = open();
    expect(await recent.get('k', read)).toBe('value');
    await clock.advance(1999);
    await recent.get('k', read);
    expect(reads()).toBe(1);
    await clock.advance(1);
    await recent.get('k', read);
    expect(reads()).toBe(2);
    // A clock that steps back makes nothing young again.
    clock.set(clock.now() - 60_000);
    await recent.get('k', read);
    expect(reads()).toBe(3);
  });

  it('is forgotten at once, even by a read that is under way', async () => {
    const { recent, read, reads } = open();
    let finish = (_: string) => {};
    const slow = recent.get(
      'k',
      () =>
        new Promise<string>(resolve => {
          finish = resolve;
        }),
    );
    recent.forget('k');
    finish('revoked meanwhile');
    await slow;
    expect(await recent.get('k', read)).toBe('value');
    recent.forget('k');
    await recent.get('k', read);
    expect(reads()).toBe(2);
  });

  it('is not cached if nothing was found', async () => {
    const { recent, reads } = open();
    expect(await recent.get('k', async () => undefined)).toBeUndefined();
    expect(await recent.get('k', async () => 'now there is')).toBe('now there is');
    expect(reads()).toBe(0);
  });
});
