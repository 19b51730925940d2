import type { ControlPlane } from '@stak/table';

// DynamoDB adds this to each item, in tables and indexes, when it bills what is stored.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
const billedBytesOfItem = 100;

type TableDescription = {
  TableSizeBytes: number;
  ItemCount: number;
  GlobalSecondaryIndexes?: DescribedIndex[];
};
type DescribedIndex = { IndexSizeBytes: number; ItemCount: number };

/** The bytes that DynamoDB would bill for all tables and indexes, but the ignored tables. */
export async function readStored(control: ControlPlane, ignored: readonly string[]): Promise<number> {
  const { TableNames } = (await control.execute('ListTables', {})) as { TableNames: string[] };
  let bytes = 0;
  for (const TableName of TableNames.filter(name => !ignored.includes(name))) {
    const { Table } = (await control.execute('DescribeTable', { TableName })) as { Table: TableDescription };
    bytes += Table.TableSizeBytes + Table.ItemCount * billedBytesOfItem;
    for (const { IndexSizeBytes, ItemCount } of Table.GlobalSecondaryIndexes ?? [])
      bytes += IndexSizeBytes + ItemCount * billedBytesOfItem;
  }
  return bytes;
}
