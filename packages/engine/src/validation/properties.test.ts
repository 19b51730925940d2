import fc from 'fast-check';
import { expect, it } from 'vitest';
import { DynamoError } from '../errors.ts';
import { deserialize } from '../http/deserialize.ts';
import { inputShapes } from '../http/shapes.ts';
import { type Operation, validators } from './operations.ts';
import type { Shape } from './shape.ts';

const operations = Object.keys(validators) as Operation[];

// Whatever comes in, what goes out is either acceptance or an error of DynamoDB's.
function attempt(run: () => void): void {
  try {
    run();
  } catch (error) {
    if (!(error instanceof DynamoError)) throw error;
    expect(['ValidationException', 'SerializationException']).toContain(error.name);
  }
}

const junk = fc.oneof(
  fc.anything({ withBigInt: true, withNullPrototype: true, withSparseArray: true, withTypedArray: true }),
  fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, undefined, null, '', '\ud800', Symbol('s'), () => 1),
);

const value = fc.letrec(tie => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.record({ S: fc.string({ unit: 'binary' }) }),
    fc.record({ N: fc.oneof(fc.string(), fc.double().map(String)) }),
    fc.record({ BOOL: fc.boolean() }),
    fc.record({ NULL: fc.boolean() }),
    fc.record({ SS: fc.array(fc.string(), { maxLength: 3 }) }),
    fc.record({ NS: fc.array(fc.nat(3).map(String), { maxLength: 3 }) }),
    fc.record({ B: fc.base64String() }),
    fc.record({ L: fc.array(tie('value'), { maxLength: 3 }) }),
    fc.record({ M: fc.dictionary(fc.string(), tie('value'), { maxKeys: 3 }) }),
    junk,
  ),
})).value;

// Requests of the right shape, with a wrong thing here and there, so that the later checks are reached too.
function requestOf(shape: Shape): fc.Arbitrary<unknown> {
  const sound = soundOf(shape);
  return fc.oneof({ weight: 12, arbitrary: sound }, { weight: 1, arbitrary: junk });
}

function soundOf(shape: Shape): fc.Arbitrary<unknown> {
  switch (shape.kind) {
    case 'string':
      return shape.values
        ? fc.constantFrom(...shape.values)
        : fc.constantFrom('things', 'a', '', '#a', ':a', 'arn:');
    case 'integer':
    case 'long':
      return fc.integer({ min: -1, max: 5 });
    case 'timestamp':
      return fc.double({ min: 0, max: 4e9, noNaN: true });
    case 'boolean':
      return fc.boolean();
    case 'refused':
      return fc.constant(undefined);
    case 'value':
      return value;
    case 'attributes':
      return fc.dictionary(fc.constantFrom('pk', ':a', '__proto__', 'a'), value, { maxKeys: 2 });
    case 'list':
      return fc.array(requestOf(shape.of), { maxLength: 2 });
    case 'map':
      return fc.dictionary(fc.constantFrom('things', '#a', '__proto__'), requestOf(shape.of), { maxKeys: 2 });
    case 'structure':
      return fc.record(Object.fromEntries(shape.entries.map(({ name, shape }) => [name, requestOf(shape)])), {
        requiredKeys: shape.entries.filter(({ shape }) => shape.required).map(({ name }) => name),
      });
  }
}

it.each(operations)('%s survives any JSON', operation => {
  fc.assert(
    fc.property(fc.oneof(fc.jsonValue(), requestOf(inputShapes[operation])), body => {
      const json = JSON.parse(
        JSON.stringify(body, (_, part) => (typeof part === 'bigint' ? 1 : part)) ?? 'null',
      );
      attempt(() => validators[operation](deserialize(operation, json) as never));
    }),
    { numRuns: 150 },
  );
});

it.each(operations)('%s survives any caller in the same process', operation => {
  fc.assert(
    fc.property(fc.oneof(junk, requestOf(inputShapes[operation])), input => {
      attempt(() => validators[operation](input as never));
    }),
    { numRuns: 150 },
  );
});

it.each(operations)('%s survives an object that holds itself', operation => {
  const cycle: Record<string, unknown> = {};
  for (const { name } of inputShapes[operation].entries) cycle[name] = cycle;
  attempt(() => validators[operation](cycle as never));
  const loop: unknown[] = [];
  loop.push(loop);
  for (const { name } of inputShapes[operation].entries) {
    attempt(() => validators[operation]({ TableName: 'things', [name]: loop } as never));
    attempt(() => validators[operation]({ TableName: 'things', [name]: Array(101).fill(loop) } as never));
  }
});
