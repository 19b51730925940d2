import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DynamoError } from '../src/errors.ts';
import { bindCondition } from '../src/expressions/condition.ts';
import { parseCondition } from '../src/expressions/condition-parser.ts';
import { evaluateCondition } from '../src/expressions/evaluation.ts';
import { bindKeyCondition, resolveKeyCondition } from '../src/expressions/key-condition.ts';
import { bindProjection, project } from '../src/expressions/projection.ts';
import { createScope } from '../src/expressions/scope.ts';
import { bindUpdate } from '../src/expressions/update.ts';
import { applyUpdate } from '../src/expressions/update-application.ts';
import { parseUpdate } from '../src/expressions/update-parser.ts';
import type { AttributeValue, Item } from '../src/values/attribute-value.ts';
import {
  action,
  condition,
  document,
  fittingAction,
  item,
  names,
  operands,
  printCondition,
  printUpdate,
  values,
} from './expressions-arbitraries.ts';
import { holdsNaively, updateNaively } from './expressions-oracle.ts';

// A request may answer this for any text at all.
function attempt<Result>(run: () => Result): Result | DynamoError {
  try {
    return run();
  } catch (error) {
    if (error instanceof DynamoError && error.name === 'ValidationException') return error;
    throw error;
  }
}

const scopeOf = (of: Record<string, AttributeValue>) => createScope(names, of);

function attemptAll(source: string, of: Record<string, AttributeValue>, target: Item): void {
  const keys = { hash: { name: 'a', type: 'S' }, range: { name: 'b', type: 'N' } } as const;
  attempt(() => evaluateCondition(bindCondition('FilterExpression', source, scopeOf(of)), target));
  attempt(() => resolveKeyCondition(bindKeyCondition(source, scopeOf(of)), keys));
  attempt(() => applyUpdate(bindUpdate(source, scopeOf(of)), target));
  attempt(() => project(bindProjection(source, scopeOf(of)), target));
}

describe('any text is an expression or a validation error', () => {
  const keywords = 'SET REMOVE ADD DELETE AND OR NOT BETWEEN IN'.split(' ').map(keyword => ` ${keyword} `);
  const others =
    'size contains if_not_exists list_append attribute_type begins_with attribute_exists a b name ' +
    '#a #b # :v :w : ( ) [ ] 0 1 . , = < > + - _';
  const word = fc.constantFrom(...keywords, ...others.split(' '), ' ');
  const soup = fc.array(word, { maxLength: 40 }).map(words => words.join(''));

  test.each([
    ['characters', fc.string({ unit: 'binary', maxLength: 200 })],
    ['words', soup],
    [
      'conditions with a word misplaced',
      fc.tuple(condition.map(printCondition), word).map(([a, b]) => a.replace(' ', b)),
    ],
  ])('%s', (_, source) => {
    fc.assert(fc.property(source, values, item, attemptAll), {
      numRuns: process.env.STAK_LONG_TESTS ? 1000 : 300,
    });
  });

  test.each([
    '(',
    'not ',
    'size(',
    'a<b or (',
    '((a)',
    'a=b and ',
    'a.',
    'a[0]',
    'a,',
    'SET a=',
    'REMOVE a,',
    'if_not_exists(a,',
    ':v ',
    '#',
    '"',
    '𝄞',
  ])('%s over and over, quickly', part => {
    const source = part.repeat(Math.floor(4096 / Buffer.byteLength(part)));
    const before = process.cpuUsage();
    for (const prefix of ['', 'SET a = ', 'a = ']) attemptAll((prefix + source).slice(0, 4096), {}, {});
    expect(process.cpuUsage(before).user).toBeLessThan(1_000_000); // microseconds
  });

  test('hundreds of paths, quickly', () => {
    const list = Array.from({ length: 570 }, (_, i) => `a[${i}]`).join();
    const before = process.cpuUsage();
    bindUpdate(`REMOVE ${list}`, scopeOf({}));
    bindProjection(list, scopeOf({}));
    expect(process.cpuUsage(before).user).toBeLessThan(1_000_000); // microseconds
  });
});

describe('a tree printed and parsed is the same tree', () => {
  test('conditions', () => {
    fc.assert(
      fc.property(condition, node => {
        expect(parseCondition(printCondition(node), 'ConditionExpression')).toEqual(node);
      }),
    );
  });

  test('updates', () => {
    fc.assert(
      fc.property(fc.array(action, { minLength: 1, maxLength: 4 }), actions => {
        const bySection = [...new Set(actions.map(({ kind }) => kind))].flatMap(kind =>
          actions.filter(node => node.kind === kind),
        );
        expect(parseUpdate(printUpdate(actions), 'UpdateExpression').actions).toEqual(bySection);
      }),
    );
  });
});

const judgements = process.env.STAK_LONG_TESTS ? 3000 : 900;

describe('a naive oracle agrees', () => {
  test('conditions', () => {
    let judged = 0;
    fc.assert(
      fc.property(condition, values, item, (node, of, target) => {
        const bound = attempt(() => bindCondition('ConditionExpression', printCondition(node), scopeOf(of)));
        if (bound instanceof DynamoError) return;
        judged++;
        expect(evaluateCondition(bound, target)).toBe(holdsNaively(node, { names, values: of }, target));
      }),
      { numRuns: judgements },
    );
    expect(judged).toBeGreaterThan(judgements / 10);
  });

  test('updates', () => {
    let judged = 0;
    fc.assert(
      fc.property(
        fc.array(fittingAction, { minLength: 1, maxLength: 4 }),
        operands,
        document,
        (actions, of, target) => {
          const bound = attempt(() => bindUpdate(printUpdate(actions), scopeOf(of)));
          if (bound instanceof DynamoError) return;
          const before = structuredClone(target);
          const updated = attempt(() => applyUpdate(bound, target));
          expect(target).toEqual(before);
          const expected = updateNaively(actions, { names, values: of }, target);
          expect(updated instanceof DynamoError).toBe(expected === undefined);
          if (updated instanceof DynamoError || expected === undefined) return;
          judged++;
          expect(sorted(updated.item)).toEqual(sorted(expected));
        },
      ),
      { numRuns: judgements },
    );
    expect(judged).toBeGreaterThan(judgements / 5);
  });

  const sorted = (of: Item) =>
    Object.entries(of)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, v]) => [name, plain(v)]);
  const plain = (v: AttributeValue): unknown =>
    JSON.parse(JSON.stringify(v, (_, inner) => (inner instanceof Uint8Array ? [...inner] : inner)));
});
