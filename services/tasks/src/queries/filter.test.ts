import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseFilter } from './filter.ts';

const today = '2026-03-10';
const parse = (text: string) => parseFilter(text, today);

describe('a filter', () => {
  it.each([
    ['', []],
    ['status:pending', [{ kind: 'oneOf', attribute: 'status', values: ['pending'], not: false }]],
    [
      '-status:pending,completed',
      [{ kind: 'oneOf', attribute: 'status', values: ['pending', 'completed'], not: true }],
    ],
    ['due<2026-12-01', [{ kind: 'due', to: '2026-11-30', not: false }]],
    ['due<=today', [{ kind: 'due', to: today, not: false }]],
    ['due>yesterday', [{ kind: 'due', from: today, not: false }]],
    ['due>=+7d', [{ kind: 'due', from: '2026-03-17', not: false }]],
    ['due:2026-03-01..2026-03-31', [{ kind: 'due', from: '2026-03-01', to: '2026-03-31', not: false }]],
    ['due:none', [{ kind: 'present', attribute: 'due_date', not: true }]],
    ['priority>=high', [{ kind: 'oneOf', attribute: 'priority', values: ['high', 'urgent'], not: false }]],
    ['priority<medium', [{ kind: 'oneOf', attribute: 'priority', values: ['low'], not: false }]],
    [
      'category:"home & \\"garden\\""',
      [{ kind: 'oneOf', attribute: 'category', values: ['home & "garden"'], not: false }],
    ],
    ['category:work#x,🏠', [{ kind: 'oneOf', attribute: 'category', values: ['work#x', '🏠'], not: false }]],
    ['label:a,b', [{ kind: 'label', values: ['a', 'b'], not: false }]],
    [
      'has:due -has:label',
      [
        { kind: 'present', attribute: 'due_date', not: false },
        { kind: 'present', attribute: 'labels', not: true },
      ],
    ],
    [
      'is:overdue',
      [
        { kind: 'open', not: false },
        { kind: 'due', to: '2026-03-09', not: false },
      ],
    ],
    [
      '  -is:open\tis:subtask ',
      [
        { kind: 'open', not: true },
        { kind: 'present', attribute: 'parent_id', not: false },
      ],
    ],
  ])('parses %j', (text, expected) => {
    expect(parse(text)).toEqual(expected);
  });

  it.each([
    ['pending', 'Expected a term like status:pending, not "pending" (at character 1).'],
    ['status:pending milk', 'Expected a term like status:pending, not "milk" (at character 16).'],
    [
      'status:open',
      '"status" must be one of pending, in_progress, completed, cancelled, not "open" (at character 1).',
    ],
    ['colour:red', 'Unknown field "colour"'],
    ['status<pending', '"status" takes a colon'],
    ['status:', 'Expected a value after "status:" (at character 8).'],
    ['status:pending,', 'Expected a value after'],
    ['category:"work', 'A quoted value has no closing quote'],
    ['category:"work"home', 'Expected a space between two terms'],
    ['due:2026-02-30', '"2026-02-30" is not a date'],
    ['due:constructor', '"constructor" is not a date'],
    ['due:today,tomorrow', '"due:" takes one value'],
    ['priority>urgent', 'No priority is > urgent'],
    ['-is:overdue', 'cannot be negated'],
    ['is:late', '"is" must be one of open, overdue, subtask'],
    ['category:\u0007', 'is not a name'],
    [Array(21).fill('is:open').join(' '), 'at most 20 terms'],
    [`category:${'x'.repeat(1000)}`, 'at most 1000 characters'],
    [`label:${Array(50).fill('x').join(',')} is:open`, 'at most 50 values'],
    ['-due:2026-03-02..2026-03-01', '"2026-03-02..2026-03-01" ends before it begins'],
  ])('refuses %j', (text, message) => {
    expect(() => parse(text)).toThrow(expect.objectContaining({ code: 'tasks.filter_refused' }));
    expect(() => parse(text)).toThrow(message);
  });

  it('parses any text to clauses or a refusal', () => {
    const pieces = fc.constantFrom(
      'status',
      ':',
      'due',
      '<',
      '"',
      '\\',
      ',',
      ' ',
      '-',
      'pending',
      '2026-01-01',
      '..',
      'is',
      '\n',
      '€',
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 12 }), parts => {
        try {
          expect(Array.isArray(parse(parts.join('')))).toBe(true);
        } catch (error) {
          expect(error).toMatchObject({ code: 'tasks.filter_refused' });
        }
      }),
    );
  });
});
