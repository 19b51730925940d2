import type { Fault } from '../fault.ts';

// What a search of vectors must not return, or miss.

const search = 'packages/engine/test/vector-search.test.ts';
const indexes = 'packages/engine/test/vector-indexes.test.ts';
const properties = { test: 'packages/engine/test/vectors-properties.test.ts' };
const large = 'packages/engine/test/vectors-large.test.ts';

export const vectorFaults: readonly Fault[] = [
  {
    name: 'vector-stale-after-update',
    file: 'packages/engine/src/vectors/write.ts',
    before:
      'for (const name of [index.attribute, ...searchAttributes(index).map(attribute => attribute.name)]) {',
    after: 'for (const name of searchAttributes(index).map(attribute => attribute.name)) {',
    why: 'A search compares the vector that an item had before its last update',
    caughtBy: properties,
  },
  {
    name: 'vector-of-deleted-item',
    file: 'packages/engine/src/vectors/write.ts',
    before: '  if (position) {\n    tx.remove(vectorKey(index.id, position));',
    after: '  if (position) {\n    if (hasItem) tx.remove(vectorKey(index.id, position));',
    why: 'The vector of a deleted item stays in the index and is found',
    caughtBy: { test: search, name: 'follows an item to another partition' },
    isShort: true,
  },
  {
    name: 'vector-stays-in-partition',
    file: 'packages/engine/src/vectors/write.ts',
    before:
      'for (const name of [index.attribute, ...searchAttributes(index).map(attribute => attribute.name)]) {',
    after: 'for (const name of [index.attribute]) {',
    why: 'An item that has another tenant now is found by the one it had before',
    caughtBy: { test: search, name: 'follows an item to another partition' },
  },
  {
    name: 'vector-number-used-again',
    file: 'packages/engine/src/vectors/write.ts',
    before: '  return before.next;\n',
    after: '  return before.live;\n',
    why: 'After a deletion a new vector takes the place of another',
    caughtBy: properties,
  },
  {
    name: 'vector-filter-ignored',
    file: 'packages/engine/src/vectors/search.ts',
    before:
      '    if (digest && !digest.equals(filters.subarray(i * digestBytes, (i + 1) * digestBytes))) return false;\n',
    after: '',
    why: 'A search returns items that its filter excludes',
    caughtBy: { test: search, name: 'sees one partition, and of it what the filters allow' },
    isShort: true,
  },
  {
    name: 'vector-filter-ignored-by-codes',
    file: 'packages/engine/src/vectors/approximate.ts',
    before:
      '        if (!tests.every(({ wanted, at }) => digests[i * filterCount + at] === wanted)) continue;\n',
    after: '',
    why: 'In a large partition, items that a filter excludes displace those that it allows',
    caughtBy: { test: large, name: 'searched by COSINE' },
  },
  {
    name: 'vector-wrong-metric',
    file: 'packages/engine/src/vectors/distance.ts',
    before: '      return cosineFrom(wanted);',
    after: '      return stored => 1 - rounded(dot(wanted, stored));',
    why: 'An index by angle is searched by dot product: long vectors come first',
    caughtBy: { ...properties, name: 'by COSINE equal the formula' },
  },
  {
    name: 'vector-wrong-metric-of-codes',
    file: 'packages/engine/src/vectors/blocks.ts',
    before: "  offsets[at] = by === 'EUCLIDEAN' ? -square : 0;",
    after: '  offsets[at] = 0;',
    why: 'In a large partition, codes rank by dot product where distances are asked for',
    caughtBy: { test: large, name: 'searched by EUCLIDEAN' },
  },
  {
    name: 'vector-order-of-equals',
    file: 'packages/engine/src/vectors/search.ts',
    before: 'a.key.compare(b.key) < 0',
    after: 'a.key.compare(b.key) > 0',
    why: 'Equally near items come in another order than that of a Scan',
    caughtBy: { test: search, name: 'puts equal ones in the order of their keys' },
  },
  {
    name: 'vector-farthest-first',
    file: 'packages/engine/src/vectors/nearest.ts',
    before: 'heap.toSorted((a, b) => (isNearer(a, b) ? -1 : 1))',
    after: 'heap.toSorted((a, b) => (isNearer(a, b) ? 1 : -1))',
    why: 'The farthest of the nearest items comes first',
    caughtBy: { test: search, name: 'puts the nearest first' },
  },
  {
    name: 'vector-projection-leaks',
    file: 'packages/engine/src/actions/search-vectors.ts',
    before: '      const seen = visible ? project(visible, whole) : whole;',
    after: '      const seen = whole;',
    why: 'An answer has attributes that the index does not project',
    caughtBy: { test: search, name: 'shows what is projected' },
    isShort: true,
  },
  {
    name: 'vector-projection-keeps-vector',
    file: 'packages/engine/src/storage/codec.ts',
    before: '.filter(([attribute]) => attribute !== name));',
    after: ');',
    why: 'An answer has an empty list, or the whole vector, that nobody asked for',
    caughtBy: { test: 'packages/engine/src/storage/codec.test.ts', name: 'is read without one attribute' },
  },
  {
    name: 'vector-fill-ignores-writers',
    file: 'packages/engine/src/item-writer.ts',
    before: "    if (index.status !== 'DELETING') writeVector(",
    after: "    if (index.status === 'ACTIVE') writeVector(",
    why: 'What is changed while an index is filled stays in it as it was, or is missed',
    caughtBy: { test: indexes, name: 'has what is written while it is filled' },
  },
  {
    name: 'vector-without-code-unread',
    file: 'packages/engine/src/vectors/search.ts',
    before: 'number: state?.coded ?? 0 }',
    after: 'number: state ? count.next : 0 }',
    why: 'In a large partition the newest vectors are not found until they have codes',
    caughtBy: { test: large, name: 'searched by DOT_PRODUCT' },
  },
  {
    name: 'vector-codes-lost-by-kill',
    file: 'packages/engine/src/vectors/coding.ts',
    before: '    coded: last + 1,\n',
    after: '    coded: count.next,\n',
    why: 'After a kill, vectors that had no code yet are never found again',
    caughtBy: { test: large, name: 'survives the killing' },
  },
  {
    name: 'vector-codes-removed-before-replaced',
    file: 'packages/engine/src/vectors/building.ts',
    before: '    const isReplaced = await context.submit(tx => {\n',
    after:
      '    await context.submit(tx => {\n      for (const key of sources) tx.remove(key);\n    });\n' +
      '    const isReplaced = await context.submit(tx => {\n',
    why: 'A kill at the end of a build loses the codes of all its vectors',
    caughtBy: { test: large, name: 'survives the killing' },
  },
  {
    name: 'vector-addition-lost',
    file: 'packages/engine/src/vectors/building.ts',
    before: '  const inUse = [0, last.build, last.addition];',
    after: '  const inUse = [0, last.build];',
    why: 'A build begins by removing codes that it should sort',
    caughtBy: { test: large, name: 'new codes are added to the cells' },
  },
  {
    name: 'vector-near-ones-skipped',
    file: 'packages/engine/src/vectors/search.ts',
    before: 'if (least > nearest.farthest()) continue;',
    after: 'if (least < nearest.farthest()) continue;',
    why: 'Vectors that may be nearer than those found are not compared',
    caughtBy: { test: large, name: 'searched by COSINE' },
  },
];
