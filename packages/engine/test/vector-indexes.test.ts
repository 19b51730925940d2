import { beforeEach, describe, expect, test } from 'vitest';
import type { Engine, Item } from '../src/index.ts';
import { call, hashTable, newIndex, openEngine } from './engine-fixture.ts';
import { note, search, text, vectorIndex, vectorTable } from './vectors-fixture.ts';

// Texts and behaviour are those that were seen of Amazon's service in August 2026.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/VectorSearchWorkingWith.html

let engine: Engine;
beforeEach(async () => {
  engine = await openEngine();
  return () => engine.close();
});

const put = (Item: Item, more: object = {}) => call(engine, 'PutItem', { TableName: 'notes', Item, ...more });
const describeTable = async () => (await call(engine, 'DescribeTable', { TableName: 'notes' })).Table;
const invalid = 'One or more parameter values were invalid: ';

async function expectRefusal(asked: Promise<unknown>, message: string, name = 'ValidationException') {
  await expect(asked).rejects.toMatchObject({ name, message });
}

describe('a table with vector indexes', () => {
  test('is described with them', async () => {
    const { TableDescription } = await call(engine, 'CreateTable', vectorTable());
    expect(TableDescription.VectorIndexes).toMatchObject([
      { IndexStatus: 'CREATING' },
      { IndexStatus: 'CREATING' },
    ]);
    const described = await describeTable();
    expect(described.AttributeDefinitions).toEqual(['pk', 'tenant', 'category'].map(text));
    expect(described.VectorIndexes).toEqual([
      {
        IndexName: 'byMeaning',
        VectorAttribute: { AttributeName: 'embedding' },
        Dimensions: 3,
        DistanceFunction: 'COSINE',
        Projection: { ProjectionType: 'ALL' },
        IndexStatus: 'ACTIVE',
        IndexSizeBytes: 0,
        ItemCount: 0,
        IndexArn: 'arn:aws:dynamodb:us-east-1:123456789012:table/notes/index/byMeaning',
      },
      expect.objectContaining({
        SearchSchema: [
          { AttributeName: 'tenant', SearchSchemaElementType: 'HASH' },
          { AttributeName: 'category', SearchSchemaElementType: 'INLINE_FILTER' },
        ],
      }),
    ]);
  });

  const filters = (count: number) =>
    Array.from({ length: count }, (_, i) => ({
      AttributeName: `f${i}`,
      SearchSchemaElementType: 'INLINE_FILTER',
    }));
  const keys = (...names: string[]) =>
    names.map(AttributeName => ({ AttributeName, SearchSchemaElementType: 'HASH' }));
  const refusals: [string, object, string][] = [
    [
      'of a provisioned table',
      { BillingMode: 'PROVISIONED', ProvisionedThroughput: { ReadCapacityUnits: 5, WriteCapacityUnits: 5 } },
      `${invalid}Vector indexes are only supported for PAY_PER_REQUEST tables`,
    ],
    [
      'with an undefined search attribute',
      { VectorIndexes: [vectorIndex({ SearchSchema: keys('other') })] },
      `${invalid}One element in SearchSchema is not defined in attribute definitions`,
    ],
    [
      'of more than 4,096 dimensions',
      { VectorIndexes: [vectorIndex({ Dimensions: 4097 })] },
      `${invalid}Number of dimensions must be between 1 and 4096 inclusive.`,
    ],
    [
      'of no dimensions',
      { VectorIndexes: [vectorIndex({ Dimensions: 0 })] },
      "1 validation error detected: Value '0' at 'vectorIndexes.1.member.dimensions' failed to satisfy constraint: " +
        'Member must have value greater than or equal to 1',
    ],
    [
      'without a projection',
      { VectorIndexes: [vectorIndex({ Projection: undefined })] },
      "1 validation error detected: Value null at 'vectorIndexes.1.member.projection' failed to satisfy constraint: " +
        'Member must not be null',
    ],
    [
      'six times',
      { VectorIndexes: [1, 2, 3, 4, 5, 6].map(i => vectorIndex({ IndexName: `index${i}` })) },
      `${invalid}VectorIndex count exceeds the per-table limit of 5`,
    ],
    [
      'of one attribute with other dimensions',
      { VectorIndexes: [vectorIndex(), vectorIndex({ IndexName: 'second', Dimensions: 4 })] },
      `${invalid}Conflicting attribute definition for 'embedding'. All VectorIndexes on the same vector attribute ` +
        'must use the same dimensions.',
    ],
    [
      'of a defined attribute',
      { VectorIndexes: [vectorIndex({ VectorAttribute: { AttributeName: 'pk' } })] },
      `${invalid}Conflicting attribute definition for 'pk'. An attribute cannot be defined in AttributeDefinitions ` +
        'when used as a VectorAttribute.',
    ],
    [
      'with two partition keys',
      { VectorIndexes: [vectorIndex({ SearchSchema: keys('tenant', 'category') })] },
      `${invalid}Value '2' at 'SearchSchema' failed to satisfy constraint: Member must have HASH count less than or ` +
        'equal to 1',
    ],
    [
      'with 19 filters',
      { VectorIndexes: [vectorIndex({ SearchSchema: filters(19) })] },
      `${invalid}Value '19' at 'SearchSchema' failed to satisfy constraint: Member must have INLINE_FILTER count less ` +
        'than or equal to 18',
    ],
    [
      'twice by one name',
      { VectorIndexes: [vectorIndex(), vectorIndex()] },
      `${invalid}Duplicate index name: byMeaning`,
    ],
  ];
  test.each(refusals)('is refused: one %s', async (_, more, message) => {
    await expectRefusal(call(engine, 'CreateTable', vectorTable('notes', more)), message);
  });

  test('takes 4,096 dimensions', async () => {
    const VectorIndexes = [vectorIndex({ Dimensions: 4096 })];
    await call(engine, 'CreateTable', hashTable('notes', { VectorIndexes }));
    expect((await describeTable()).VectorIndexes).toMatchObject([{ Dimensions: 4096 }]);
  });

  test('cannot be provisioned later', async () => {
    await call(engine, 'CreateTable', vectorTable());
    await expectRefusal(
      call(engine, 'UpdateTable', {
        TableName: 'notes',
        BillingMode: 'PROVISIONED',
        ProvisionedThroughput: { ReadCapacityUnits: 1, WriteCapacityUnits: 1 },
      }),
      `${invalid}Vector indexes are only supported for PAY_PER_REQUEST tables`,
    );
  });
});

describe('an index that is added', () => {
  const update = (...VectorIndexUpdates: object[]) =>
    call(engine, 'UpdateTable', { TableName: 'notes', VectorIndexUpdates });

  beforeEach(async () => {
    await call(engine, 'CreateTable', hashTable('notes'));
    await put(note('a', [1, 0, 0]));
    await put(note('b', [0, 1, 0]));
    await put({ pk: { S: 'unlike' }, embedding: { S: 'not a vector' } });
    await put(note('short', [1, 0]));
  });

  test('is filled with the items that fit, and searched only then', async () => {
    const adding = update({ Create: vectorIndex() });
    const { TableDescription } = await adding;
    expect(TableDescription.VectorIndexes).toMatchObject([{ IndexStatus: 'CREATING', Backfilling: true }]);
    const deleting = call(engine, 'DeleteTable', { TableName: 'notes' });
    await expectRefusal(search(engine, [1, 0, 0]), 'Cannot search backfilling vector index: byMeaning');
    await expectRefusal(
      deleting,
      'Attempt to change a resource which is still in use: Cannot delete table while indexes are being created, ' +
        'updated, or deleted.',
      'ResourceInUseException',
    );
    await engine.settled();
    expect(await search(engine, [1, 0, 0])).toEqual([
      { pk: 'a', score: 0 },
      { pk: 'b', score: 1 },
    ]);
    const [index] = (await describeTable()).VectorIndexes!;
    expect(index).toMatchObject({ IndexStatus: 'ACTIVE', ItemCount: 2 });
    expect(index).not.toHaveProperty('Backfilling');
    expect(engine.check().problems).toEqual([]);
  });

  test('has what is written while it is filled', async () => {
    await Promise.all(Array.from({ length: 600 }, (_, i) => put(note(`old-${i}`, [0, 0, 1]))));
    await update({ Create: vectorIndex() });
    const first = { TableName: 'notes', Key: { pk: { S: 'old-1' } } };
    await Promise.all([
      put(note('new', [1, 2, 0])),
      put(note('a', [1, 3, 0])), // at another place than before
      call(engine, 'DeleteItem', { TableName: 'notes', Key: { pk: { S: 'b' } } }),
      call(engine, 'UpdateItem', { ...first, UpdateExpression: 'REMOVE embedding' }),
    ]);
    expect((await describeTable()).VectorIndexes).toMatchObject([{ IndexStatus: 'CREATING' }]);
    await engine.settled();
    const found = await search(engine, [1, 2, 0], { TopK: 100 });
    expect(found.slice(0, 2).map(({ pk }) => pk)).toEqual(['new', 'a']);
    expect(found[0]!.score).toBe(0);
    expect((await describeTable()).VectorIndexes).toMatchObject([{ IndexStatus: 'ACTIVE', ItemCount: 601 }]);
    expect(engine.check().problems).toEqual([]);
  });

  test('goes without a trace in the table', async () => {
    await update({ Create: vectorIndex() });
    await engine.settled();
    await update({ Delete: { IndexName: 'byMeaning' } });
    await engine.settled();
    const described = await describeTable();
    expect(described).not.toHaveProperty('VectorIndexes');
    expect(described.ItemCount).toBe(4);
    expect(engine.check().problems).toEqual([]);
    await expectRefusal(search(engine, [1, 0, 0]), 'The table does not have the specified index: byMeaning');
  });

  test('is refused if it does not fit the table', async () => {
    await expectRefusal(
      update({ Create: vectorIndex() }, { Create: vectorIndex({ IndexName: 'second' }) }),
      'Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table',
      'LimitExceededException',
    );
    await expectRefusal(
      update({ Create: vectorIndex({ VectorAttribute: { AttributeName: 'pk' } }) }),
      `${invalid}Attributes cannot be redefined. Please check that your attribute has the same type as previously ` +
        'defined. Existing schema: Schema:[SchemaElement: key{pk:S:HASH}] New schema: ' +
        'VectorIndexSchema:[VectorAttribute: key{pk:L:3}]',
    );
    await expectRefusal(
      update({
        Create: vectorIndex({
          SearchSchema: [{ AttributeName: 'pk', SearchSchemaElementType: 'HASH' }],
        }),
      }),
      `${invalid}One element in SearchSchema is not defined in attribute definitions`,
    );
    await expectRefusal(
      update({ Delete: { IndexName: 'other' } }),
      'Requested resource not found: Index other for table notes',
      'ResourceNotFoundException',
    );
    for (let i = 0; i < 5; i++) {
      await update({ Create: vectorIndex({ IndexName: `index${i}` }) });
      await engine.settled();
    }
    await expectRefusal(
      update({ Create: vectorIndex({ IndexName: 'index0' }) }),
      'Attempting to create an index which already exists',
    );
    await expectRefusal(
      update({ Create: vectorIndex() }),
      'Subscriber limit exceeded: Number of vector secondary indexes exceeds per-table limit of 5',
      'LimitExceededException',
    );
  });

  test('does not share its name with an index of keys', async () => {
    await update({ Create: vectorIndex() });
    await engine.settled();
    await expectRefusal(
      call(engine, 'UpdateTable', { TableName: 'notes', ...newIndex('byMeaning', 'color') }),
      'Attempting to create an index which already exists',
    );
  });
});

describe('a table that is restored from a backup', () => {
  async function backUp(): Promise<string> {
    await call(engine, 'CreateTable', vectorTable());
    await put(note('a', [1, 0, 0], { tenant: { S: 't' }, category: { S: 'c' } }));
    await put(note('b', [0, 1, 0], { tenant: { S: 't' }, category: { S: 'c' } }));
    const { BackupDetails } = await call(engine, 'CreateBackup', {
      TableName: 'notes',
      BackupName: 'nightly',
    });
    await engine.settled();
    return BackupDetails.BackupArn;
  }

  test('has its vector indexes', async () => {
    const BackupArn = await backUp();
    await call(engine, 'RestoreTableFromBackup', { BackupArn, TargetTableName: 'restored' });
    await engine.settled();
    await put(note('c', [1, 1, 0]));
    const found = await search(engine, [1, 0.1, 0], { TableName: 'restored' });
    expect(found.map(({ pk }) => pk)).toEqual(['a', 'b']);
    expect(await engine.check()).toMatchObject({ problemCount: 0 });
    await call(engine, 'DeleteBackup', { BackupArn });
    await engine.settled();
    expect((await search(engine, [1, 0.1, 0])).map(({ pk }) => pk)).toEqual(['a', 'c', 'b']);
    expect(await engine.check()).toMatchObject({ problemCount: 0 });
  });

  test('has those that the request names, and no new ones', async () => {
    const BackupArn = await backUp();
    const { TableDescription } = await call(engine, 'RestoreTableFromBackup', {
      BackupArn,
      TargetTableName: 'restored',
      VectorIndexOverride: [vectorIndex()],
    });
    expect(TableDescription.VectorIndexes?.map(index => index.IndexName)).toEqual(['byMeaning']);
    await expectRefusal(
      call(engine, 'RestoreTableFromBackup', {
        BackupArn,
        TargetTableName: 'another',
        VectorIndexOverride: [vectorIndex({ IndexName: 'new' })],
      }),
      `${invalid}Indexes provided in the override do not match the indexes of the source: new`,
    );
  });
});
