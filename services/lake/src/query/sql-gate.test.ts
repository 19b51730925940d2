import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { beginsReading } from './sql-gate.ts';

const cpuMs = (work: () => void): number => {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
};

describe('the SQL gate', () => {
  it.each([
    'select 1',
    'SELECT 1',
    '  \n\t with a as (select 1) from a',
    '(select 1)',
    'from tasks',
    'values (1)',
    '-- said before\nselect 1',
    '-- said before\rselect 1',
    '--\n--\n/**//**/select/**/1',
    '/* a /* nested */ comment */ select 1',
    '/* it -- says\n */ select 1',
    'select',
  ])('passes %j', sql => expect(beginsReading(sql)).toBe(true));

  it.each([
    '',
    ' ',
    'selec 1',
    'selects 1',
    'select_ 1',
    'insert into tasks values (1)',
    "attach 'file'",
    '/* select 1',
    '/* a /* b */ select 1',
    '-- select 1',
    '/*/select 1',
    '*/ select 1',
    '"select" 1',
    '; select 1',
  ])('refuses %j', sql => expect(beginsReading(sql)).toBe(false));

  it('takes linear time for any text', () => {
    const soup = fc.array(
      fc.constantFrom('/**/', '/*', '*/', '--', '\n', '\r', ' ', '(', "'", '"', '*', '/', 'x'),
      {
        minLength: 1,
        maxLength: 12,
      },
    );
    fc.assert(
      fc.property(soup, parts => {
        const long = parts.join('').repeat(Math.ceil(200_000 / parts.join('').length));
        // In quadratic time it would take many seconds, and a backtracking gate needs years.
        expect(cpuMs(() => void beginsReading(`${long}x`))).toBeLessThan(1_000);
      }),
      { numRuns: 60 },
    );
  });
});
