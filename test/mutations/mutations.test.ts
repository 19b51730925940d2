import { describe, expect, it } from 'vitest';
import { findMisfits } from './fault.ts';
import { faults } from './faults.ts';
import { readPage, readVerdicts, renderPage } from './page.ts';

describe('the planted faults', () => {
  it('can each be planted: the text that it replaces is in its file exactly once', () => {
    expect(findMisfits(faults)).toEqual([]);
  });

  it('are those of the reference, and none is missed', () => {
    expect(readPage()).toBe(renderPage(faults, readVerdicts()));
    expect([...readVerdicts().values()]).not.toContain('missed');
  });
});
