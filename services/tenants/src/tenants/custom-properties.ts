import { versionMismatch } from '@stak/http';
import { findMismatch, findProblem } from '@stak/json-schema';
import { isRefused } from '@stak/table';
import { type Service, timestampOf } from '../deps.ts';
import { tenantErrors } from '../errors.ts';
import { type JsonObject, parseObject } from '../json-object.ts';
import * as limits from '../limits.ts';
import { propertiesSchema } from '../tables.ts';

export type VersionedSchema = { schema: JsonObject; version: number };

export async function getSchema({ store }: Service, tenant_id: string): Promise<VersionedSchema> {
  const item = await store.get(propertiesSchema, { tenant_id }, { consistent: true });
  if (!item) throw tenantErrors.create('tenants.schema_not_found', 'The tenant has no schema.');
  return { schema: parseObject(item.schema), version: item.version };
}

// Existing users are not checked again until their properties are written.
export async function putSchema(
  deps: Service,
  tenant_id: string,
  schema: JsonObject,
  expected: string | undefined,
): Promise<VersionedSchema> {
  const problem = findProblem(schema, {
    bytes: limits.schemaBytes,
    parts: limits.schemaParts,
    depth: limits.schemaDepth,
    object: 'Custom properties',
  });
  if (problem !== undefined) throw tenantErrors.create('tenants.schema_refused', problem);
  try {
    const { version } = await deps.store.update(
      propertiesSchema,
      { tenant_id },
      { set: { schema: JSON.stringify(schema), updated_at: timestampOf(deps.clock.now()) } },
      { upsert: true, ifVersion: expected === undefined ? undefined : Number(expected) },
    );
    return { schema, version };
  } catch (error) {
    throw isRefused(error) ? versionMismatch() : error;
  }
}

export async function deleteSchema({ store }: Service, tenant_id: string): Promise<void> {
  await store.delete(propertiesSchema, { tenant_id });
}

// Without a schema, everything is accepted. An object without properties is accepted even if some are required: a user
// may be created before everything about them is known.
export async function checkProperties(
  { store }: Service,
  tenant_id: string,
  properties: Record<string, unknown>,
): Promise<void> {
  if (Object.keys(properties).length === 0) return;
  const item = await store.get(propertiesSchema, { tenant_id }, { consistent: true });
  if (!item) return;
  const mismatch = findMismatch(parseObject(item.schema), properties);
  if (!mismatch) return;
  const pointer = `#/custom_properties${encodeURI(mismatch.pointer.toWellFormed())}`;
  throw tenantErrors.create('tenants.properties_refused', 'The custom properties do not match the schema.', {
    errors: [{ in: 'body', pointer, code: 'schema', detail: mismatch.detail }],
  });
}
