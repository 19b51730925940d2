// Iceberg identifies columns by number. The lake's Parquet files contain names only, so every table maps names to
// numbers (`schema.name-mapping.default`).

export type IcebergType = 'string' | 'int' | 'long' | 'double' | 'boolean' | 'timestamp';
export type IcebergColumn = { name: string; type: IcebergType };
export type Field = { id: number; name: string; required: boolean; type: IcebergType };
export type Schema = { type: 'struct'; 'schema-id': number; fields: Field[] };
export type Schemas = { schemas: Schema[]; current: Schema; lastId: number };

// A column keeps its number while it keeps its name. Undefined if one has changed its type in a way that Iceberg does
// not support: then the table starts over.
export function nextSchema(
  known: readonly Schema[],
  lastId: number,
  columns: readonly IcebergColumn[],
): Schemas | undefined {
  const before = new Map(known.flatMap(({ fields }) => fields.map(field => [field.name, field] as const)));
  let last = lastId;
  const fields: Field[] = [];
  for (const { name, type } of columns) {
    const field = before.get(name);
    if (field && field.type !== type) return undefined;
    fields.push(field ?? { id: ++last, name, required: false, type });
  }
  const text = JSON.stringify(fields);
  const same = known.find(schema => JSON.stringify(schema.fields) === text);
  if (same) return { schemas: [...known], current: same, lastId };
  const id = known.reduce((most, schema) => Math.max(most, schema['schema-id']), -1) + 1;
  const current: Schema = { type: 'struct', 'schema-id': id, fields };
  return { schemas: [...known, current], current, lastId: last };
}

export const nameMapping = (schemas: readonly Schema[]): string =>
  JSON.stringify(
    [...new Map(schemas.flatMap(({ fields }) => fields.map(({ id, name }) => [id, name] as const)))].map(
      ([id, name]) => ({ 'field-id': id, names: [name] }),
    ),
  );
