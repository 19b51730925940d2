import { setFlagsFromString } from 'node:v8';
import { expect, it } from 'vitest';
import { applyChanges, type Change } from './change.ts';

// V8 tells whether it reads an attribute of both objects in the same place.
setFlagsFromString('--allow-natives-syntax');
const isFast = new Function('item', 'return %HasFastProperties(item)') as (item: object) => boolean;
const hasSameShape = new Function('a', 'b', 'return %HaveSameMap(a, b)') as (a: object, b: object) => boolean;

const attributes = Array.from({ length: 24 }, (_, i) => [`a${i}`, i]);
const text = JSON.stringify({ ...Object.fromEntries(attributes), owner: 'x', map: { one: 1 } });
const read = () => JSON.parse(text);

const changes: Change[] = [
  { op: 'remove', path: 'owner', value: undefined },
  { op: 'remove', path: 'missing', value: undefined },
  { op: 'set', path: 'added', value: 1795108743254 },
  { op: 'set', path: ['map', 'one'], value: 2 },
  { op: 'add', path: 'a3', value: 4 },
];

it('gives items that were alike the same shape, and none that of a dictionary', () => {
  const [first, second] = [applyChanges(changes, read(), false), applyChanges(changes, read(), false)];
  expect(isFast(first)).toBe(true);
  expect(hasSameShape(first, second)).toBe(true);
});

it('copies the maps that it changes', () => {
  const item = read();
  const { map } = item;
  const changed = applyChanges(changes, item, false);
  expect(map).toEqual({ one: 1 });
  expect(changed).toEqual({ ...read(), owner: undefined, added: 1795108743254, a3: 7, map: { one: 2 } });
  expect('missing' in changed).toBe(false);
});
