import { createEngine } from '@stak/engine';
import { type AnyTable, type Attributes, createTables } from '@stak/table';

/**
 * An empty store in memory, which says what no store would take: keys that are too long, an item that is too large,
 * numbers of too many digits. Nothing is written into it.
 */
export async function openTrialStore(tables: readonly AnyTable[]) {
  const engine = await createEngine({ path: ':memory:' });
  await createTables(engine, tables);
  return {
    /** Why the item would be refused; undefined if it would be written. */
    async refusalOf({ name, keys }: AnyTable, item: Attributes): Promise<string | undefined> {
      try {
        await engine.client.put({
          TableName: name,
          Item: item,
          ConditionExpression: 'attribute_exists(#key)',
          ExpressionAttributeNames: { '#key': keys.partition },
        });
        throw new Error('it has an item that nobody wrote');
      } catch (error) {
        const { name: reason, message } = error as Error;
        return reason === 'ConditionalCheckFailedException' ? undefined : message;
      }
    },
    close: () => engine.close(),
  };
}
