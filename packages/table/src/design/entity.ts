import type { z } from 'zod';
import { DesignError } from '../errors.ts';
import * as limits from '../limits.ts';
import { type KeyTemplate, type ParamsOf, parseTemplate, templatesOverlap } from './key-template.ts';
import { compileChecks, type SchemaChecks } from './schema-check.ts';
import type { AnyTable, AnyTableKeys, KeyNames, TableKeys } from './table.ts';

/** The template of a key, like `USER#{userId}`. */
export type Templates = { readonly partition: string; readonly sort?: string };
export type IndexKeys = KeyNames & {
  readonly name: string;
  readonly templates: { readonly partition: KeyTemplate; readonly sort?: KeyTemplate };
  readonly params: readonly string[];
};

// For the compiler only: the types of an entity. Nothing exists at run time.
type EntityTypes = {
  item: object;
  input: object;
  key: object;
  templates: { readonly [index: string]: Templates };
};

/** A kind of item in a table: its schema, keys and index keys. Created with `entity`. */
export type Entity<Name extends string = string, Types extends EntityTypes = EntityTypes> = {
  readonly name: Name;
  readonly description?: string;
  readonly table: AnyTableKeys;
  readonly kind?: string;
  readonly schema: z.ZodObject;
  readonly checks: SchemaChecks;
  readonly key: IndexKeys;
  readonly indexes: readonly IndexKeys[];
  readonly version?: string;
  // Attributes that are stored in the key only, and read from there.
  readonly inKeyOnly: readonly string[];
  readonly numbers: ReadonlySet<string>;
  readonly hasTtl: boolean;
  // Another entity can have the same keys, so the stored item must be checked before it is changed.
  readonly sharesKeys: boolean;
  readonly examples: readonly object[];
  readonly types?: Types;
};
/** An entity of any type. */
export type AnyEntity = Entity<string, EntityTypes>;

type TypesOf<E> = E extends Entity<string, infer Types> ? Types : never;
/** An item of the entity, as it is read. */
export type ItemOf<E> = TypesOf<E>['item'];
/** The input of a put: an item without the attributes that have defaults. */
export type InputOf<E> = TypesOf<E>['input'];
/** The attributes that make up the key of the entity. */
export type KeyOf<E> = TypesOf<E>['key'];
export type TemplatesOf<E> = TypesOf<E>['templates'];
export type NameOf<E> = E extends Entity<infer Name, EntityTypes> ? Name : never;

type Output<Schema extends z.ZodObject> = z.output<Schema>;
type IsKeyPart<Value> = [Value] extends [string | number] ? true : false;
type PartNames<Item> = { [A in keyof Item]-?: IsKeyPart<Item[A]> extends true ? A : never }[keyof Item];
type OptionalPartNames<Item> = {
  [A in keyof Item]-?: IsKeyPart<NonNullable<Item[A]>> extends true ? A : never;
}[keyof Item];

// A template that names an unknown attribute becomes a type whose name is the compiler's message.
type Checked<Template, Names> = [Exclude<ParamsOf<Template>, Names>] extends [never]
  ? Template
  : `the schema has no text or number that is always there called ${Exclude<ParamsOf<Template>, Names> & string}`;
type CheckedTemplates<T, Names> = { [K in keyof T]: Checked<T[K], Names> };
type CheckedIndexes<I, Known, Names> = {
  [K in keyof I]: K extends keyof Known
    ? CheckedTemplates<I[K], Names>
    : `the table has no index ${K & string}`;
};

type ParamsIn<T> = T extends Templates ? ParamsOf<T['partition']> | ParamsOf<T['sort']> : never;
type Kinded<Kind> = Kind extends string ? { kind: Kind } : unknown;
type Optional<T, Names> = Omit<T, Names & keyof T> & Partial<Pick<T, Names & keyof T>>;
type Simplify<T> = { [K in keyof T]: T[K] };

type Projection<Definition> = Definition extends { project: infer P } ? { project: P } : unknown;

type TypesFor<Schema extends z.ZodObject, Key, Own, Kind, Version, Indexes> = {
  item: Simplify<Output<Schema> & Kinded<Kind>>;
  input: Simplify<Optional<z.input<Schema>, 'kind' | Version>>;
  key: Pick<Output<Schema>, ParamsIn<Key> & keyof Output<Schema>>;
  templates: { primary: Key & Templates } & {
    [I in keyof Own]: Own[I] & Templates & Projection<Indexes[I & keyof Indexes]>;
  };
};

/**
 * Defines a kind of item: a Zod schema and how its keys are written.
 *
 *     const note = entity(notes, {
 *       name: 'note',
 *       schema: z.object({ userId: z.string(), noteId: z.string(), text: z.string() }),
 *       key: { partition: 'USER#{userId}', sort: 'NOTE#{noteId}' },
 *     });
 */
export function entity<
  Indexes,
  const Name extends string,
  Schema extends z.ZodObject,
  const Key extends Templates,
  const Own extends { readonly [index: string]: Templates } = Record<never, never>,
  const Kind extends string | undefined = undefined,
  const Version extends string | undefined = undefined,
>(
  table: TableKeys<Indexes>,
  definition: {
    name: Name;
    description?: string;
    // Written as the attribute `kind`, which identifies an item in a shared partition. Without a kind, an item is
    // identified by the form of its key.
    kind?: Kind;
    schema: Schema;
    key: Key & CheckedTemplates<Key, PartNames<Output<Schema>>>;
    indexes?: Own & CheckedIndexes<Own, Indexes, OptionalPartNames<Output<Schema>>>;
    // Incremented by every write, for `ifVersion`.
    version?: Version & keyof Output<Schema>;
    inKeyOnly?: readonly ParamsIn<Key>[];
    // Another entity of the table can have the same keys. Both must say so, and differ in their kinds.
    sharesKeys?: boolean;
    // For the cost table of the generated document.
    examples?: readonly Optional<z.input<NoInfer<Schema>>, 'kind' | NoInfer<Version>>[];
  },
): Entity<Name, TypesFor<Schema, Key, Own, Kind, Version, Indexes>> {
  const { name, kind, schema, version, inKeyOnly = [], examples = [] } = definition;
  const attributes = Object.keys(schema.shape);
  const clash = attributes.find(attribute => table.keyNames.has(attribute));
  if (clash)
    throw new DesignError(`${name}: ${clash} is a key of ${table.name}, so it cannot be an attribute`);

  const made = {
    name,
    description: definition.description,
    table,
    kind,
    schema,
    checks: compileChecks(schema),
    key: compileKeys(name, 'primary', table.keys, definition.key),
    indexes: Object.entries<Templates>(definition.indexes ?? {}).map(([index, templates]) => {
      const names: KeyNames | undefined = (table as AnyTableKeys).indexes[index];
      if (!names) throw new DesignError(`${name}: ${table.name} has no index ${index}`);
      return compileKeys(name, index, names, templates);
    }),
    version,
    inKeyOnly,
    numbers: new Set(attributes.filter(attribute => isNumber(schema.shape[attribute]))),
    hasTtl: table.ttl !== undefined && attributes.includes(table.ttl),
    sharesKeys: definition.sharesKeys ?? false,
    examples,
  };
  registerIfOpen(table, made as never);
  return made as never;
}

function compileKeys(entity: string, name: string, names: KeyNames, templates: Templates): IndexKeys {
  if ((names.sort === undefined) !== (templates.sort === undefined))
    throw new DesignError(`${entity}: ${name} needs ${names.sort ? 'a sort key' : 'no sort key'}`);
  const partition = parseTemplate(templates.partition, limits.partitionKeyBytes);
  if (templates.sort === undefined)
    return { name, partition: names.partition, templates: { partition }, params: partition.params };
  const sort = parseTemplate(templates.sort, limits.sortKeyBytes);
  return {
    name,
    partition: names.partition,
    sort: names.sort,
    templates: { partition, sort },
    params: [...new Set([...partition.params, ...sort.params])],
  };
}

// Every entity defined on an open table is added to it. A table with a list accepts no others.
function registerIfOpen(table: object, added: AnyEntity): void {
  if (!('entities' in table)) return;
  const { name, entities, isOpen } = table as AnyTable;
  if (!isOpen)
    throw new DesignError(`${added.name}: define it on the keys of ${name}, and list it in the table`);
  const shared = entities.filter(other => checkPair(name, other, added));
  for (const entity of shared.length > 0 ? [...shared, added] : [])
    (entity as { sharesKeys: boolean }).sharesKeys = true;
  (entities as AnyEntity[]).push(added);
}

// Whether two entities of a table can have the same key, as messages and their receipts do. If so, their kinds must
// differ.
export function checkPair(tableName: string, other: AnyEntity, added: AnyEntity): boolean {
  if (other.name === added.name) throw new DesignError(`${tableName} has two entities ${added.name}`);
  if (!keysOverlap(other.key, added.key)) return false;
  if (other.kind === added.kind)
    throw new DesignError(
      `${tableName}: ${added.name} and ${other.name} can have the same key, and no kind tells them apart`,
    );
  return true;
}

function keysOverlap(a: IndexKeys, b: IndexKeys): boolean {
  if (!templatesOverlap(a.templates.partition, b.templates.partition)) return false;
  const [x, y] = [a.templates.sort, b.templates.sort];
  return !x || !y || templatesOverlap(x, y);
}

type Definition = { type: string; innerType?: { _zod: { def: Definition } } };

// Keys are text: a parameter that the schema declares as a number is converted back.
function isNumber(schema: unknown): boolean {
  let def = (schema as { _zod: { def: Definition } })._zod.def;
  while (def.innerType) def = def.innerType._zod.def;
  return def.type === 'number';
}
