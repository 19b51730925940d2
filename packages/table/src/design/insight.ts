import type { AnyEntity, ItemOf } from './entity.ts';

/** A row of an insight's result. */
export type InsightRow = Record<string, string | number | null>;

/**
 * A question about an entity that is answered from sums. Sums of groups can be added, so a result includes the last
 * change without reading all items again.
 */
export type Insight = {
  readonly name: string;
  readonly description: string;
  readonly entity: AnyEntity;
  // Counts existing items; existing and expired ones; or every change.
  readonly of: 'present' | 'kept' | 'changes';
  // SQL over the entity's attributes, and over _kind, _at, _account, _tenant and _user.
  readonly groups: Readonly<Record<string, string>>;
  readonly sums: Readonly<Record<string, string>>;
  readonly where?: string;
  // The group that holds a day, for answers about the last days only.
  readonly day?: string;
  readonly answer?: (rows: readonly InsightRow[], about: { today: string }) => readonly InsightRow[];
};

/** The input of `defineInsights`: a question about an entity, as SQL over the lake. */
export type InsightDefinition = Omit<Insight, 'entity'>;

type InsightSql<Item> = {
  column(name: keyof Item & string): string;
  isOneOf<Name extends keyof Item & string>(name: Name, values: readonly (Item[Name] & string)[]): string;
};

const plainName = /^[a-z_][a-z0-9_]*$/;
const column = (name: string): string => (plainName.test(name) ? name : `"${name}"`);
const sql: InsightSql<Record<string, string>> = {
  column,
  isOneOf: (name, values) => `${column(name)} in (${values.map(value => `'${value}'`).join(', ')})`,
};

/**
 * Defines the insights of an entity. Attributes are named through `column` and their values through `isOneOf`, so an
 * insight no longer compiles when its entity has changed.
 *
 *     const taskInsights = defineInsights(task, ({ column }) => [
 *       { name: 'tasks', description: 'Tasks by status.', of: 'present', groups: { status: column('status') }, sums: { tasks: '1' } },
 *     ]);
 */
export const defineInsights = <E extends AnyEntity>(
  entity: E,
  build: (sql: InsightSql<ItemOf<E>>) => readonly InsightDefinition[],
): Insight[] => build(sql as unknown as InsightSql<ItemOf<E>>).map(insight => ({ ...insight, entity }));
