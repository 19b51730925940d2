import type { BatchWrite, Capacity, ControlPlane, DynamoClient, KeysToGet, TransactWrite } from './client.ts';

// Several installations can share one account and region of AWS, or one store: the tables of each have a prefix. It is
// added to names in requests and removed from names in responses, so designs, costs and everything else keyed by table
// name do not contain it.

type NamesTable = { TableName: string };
type Answer = { ConsumedCapacity?: Capacity | Capacity[] };

/** A client that adds a prefix to the names of tables, for several installations in one account. */
export function withPrefix(client: DynamoClient, prefix: string): DynamoClient {
  if (prefix === '') return client;
  const add = <T extends NamesTable>(input: T): T => ({ ...input, TableName: prefix + input.TableName });
  const strip = (name: string): string => (name.startsWith(prefix) ? name.slice(prefix.length) : name);
  const stripUnits = (capacity: Capacity): Capacity =>
    capacity.TableName === undefined ? capacity : { ...capacity, TableName: strip(capacity.TableName) };
  const answer = <T extends Answer>(given: T): T => {
    const { ConsumedCapacity: units } = given;
    if (!units) return given;
    return { ...given, ConsumedCapacity: Array.isArray(units) ? units.map(stripUnits) : stripUnits(units) };
  };
  const renamed = <T>(tables: Record<string, T>, rename: (name: string) => string): Record<string, T> =>
    Object.fromEntries(Object.entries(tables).map(([name, one]) => [rename(name), one]));
  const adding = (name: string) => prefix + name;
  const step = (operation: TransactWrite): TransactWrite =>
    Object.fromEntries(
      Object.entries(operation).map(([kind, named]) => [kind, add(named as NamesTable)]),
    ) as TransactWrite;
  const single =
    <I extends NamesTable, O extends Answer>(operation: (input: I) => Promise<O>) =>
    async (input: I): Promise<O> =>
      answer(await operation(add(input)));

  return {
    ...client, // includes `mayLoseAnswers`
    get: single(client.get),
    put: single(client.put),
    update: single(client.update),
    delete: single(client.delete),
    query: single(client.query),
    scan: single(client.scan),
    async batchGet(input) {
      const RequestItems = renamed<KeysToGet>(input.RequestItems, adding);
      const output = answer(await client.batchGet({ ...input, RequestItems }));
      return {
        ...output,
        ...(output.Responses && { Responses: renamed(output.Responses, strip) }),
        ...(output.UnprocessedKeys && { UnprocessedKeys: renamed(output.UnprocessedKeys, strip) }),
      };
    },
    async batchWrite(input) {
      const RequestItems = renamed<BatchWrite[]>(input.RequestItems, adding);
      const done = answer(await client.batchWrite({ ...input, RequestItems }));
      return {
        ...done,
        ...(done.UnprocessedItems && { UnprocessedItems: renamed(done.UnprocessedItems, strip) }),
      };
    },
    transactGet: async input =>
      answer(
        await client.transactGet({
          ...input,
          TransactItems: input.TransactItems.map(({ Get }) => ({ Get: add(Get) })),
        }),
      ),
    transactWrite: async input =>
      answer(await client.transactWrite({ ...input, TransactItems: input.TransactItems.map(step) })),
  };
}

/** The same for operations on tables. A list contains only tables with the prefix, without it. */
export function controlWithPrefix(control: ControlPlane, prefix: string): ControlPlane {
  if (prefix === '') return control;
  return {
    async execute(operation, input) {
      if (operation === 'ListTables') {
        const { ExclusiveStartTableName: after, ...rest } = input as { ExclusiveStartTableName?: string };
        const from = after === undefined ? rest : { ...rest, ExclusiveStartTableName: prefix + after };
        const page = (await control.execute(operation, from)) as {
          TableNames?: string[];
          LastEvaluatedTableName?: string;
        };
        const own = page.TableNames?.filter(name => name.startsWith(prefix)) ?? [];
        return { ...page, TableNames: own.map(name => name.slice(prefix.length)) };
      }
      return control.execute(operation, { ...input, TableName: prefix + (input as NamesTable).TableName });
    },
  };
}
