import { validationError } from '../errors.ts';
import * as limits from '../limits.ts';
import { attributesOfKey, type Table, vectorsOf } from '../storage/table.ts';
import { invalid } from './attribute-values.ts';
import { list, long, oneOf, required, string, structure, type TypeOf } from './shape.ts';
import { checkProjection } from './table-definition.ts';
import { type AttributeDefinitionsInput, tableMembers } from './table-members.ts';

// Vector indexes in CreateTable and UpdateTable. The words are those that DynamoDB was seen to use, where it was.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/VectorSearchWorkingWith.html

const attributeName = required(string({ max: 65_535 }));

const members = {
  IndexName: tableMembers.indexName,
  VectorAttribute: required(structure('VectorAttributeDefinition', { AttributeName: attributeName })),
  SearchSchema: list(
    structure('SearchSchemaElement', {
      AttributeName: attributeName,
      SearchSchemaElementType: required(oneOf('HASH', 'INLINE_FILTER')),
    }),
  ),
  Projection: tableMembers.projection,
  Dimensions: required(long(1)),
  DistanceFunction: required(oneOf('COSINE', 'DOT_PRODUCT', 'EUCLIDEAN')),
};

const vectorIndex = structure('VectorIndex', members);
export const vectorIndexes = list(vectorIndex);

const vectorIndexUpdate = structure('VectorIndexUpdate', {
  Create: structure('CreateVectorIndexAction', members),
  Delete: structure('DeleteVectorIndexAction', { IndexName: tableMembers.indexName }),
});
export const vectorIndexUpdates = list(vectorIndexUpdate);

export type VectorIndexInput = TypeOf<typeof vectorIndex>;
type VectorIndexUpdateInput = TypeOf<typeof vectorIndexUpdate>;

export const onDemandOnly = () => invalid('Vector indexes are only supported for PAY_PER_REQUEST tables');

export function checkVectorIndexes(
  indexes: readonly VectorIndexInput[],
  definitions: AttributeDefinitionsInput,
  addName: (name: string) => void,
): void {
  for (const index of indexes) {
    checkVectorIndex(index, definitions);
    addName(index.IndexName);
  }
  if (indexes.length > limits.vectorIndexes)
    throw invalid(`VectorIndex count exceeds the per-table limit of ${limits.vectorIndexes}`);
  const dimensions = new Map<string, number>();
  for (const { VectorAttribute: attribute, Dimensions } of indexes) {
    checkSameDimensions(attribute.AttributeName, dimensions.get(attribute.AttributeName), Dimensions);
    dimensions.set(attribute.AttributeName, Dimensions);
  }
}

function checkVectorIndex(index: VectorIndexInput, definitions: AttributeDefinitionsInput): void {
  const { VectorAttribute, SearchSchema = [], Projection, Dimensions } = index;
  checkProjection(Projection);
  checkCount('HASH', 1, SearchSchema);
  checkCount('INLINE_FILTER', limits.vectorFilters, SearchSchema);
  if (Dimensions > limits.vectorDimensions)
    throw invalid(`Number of dimensions must be between 1 and ${limits.vectorDimensions} inclusive.`);
  const name = VectorAttribute.AttributeName;
  if (name === '') throw invalid('The attribute name of a vector attribute must not be empty');
  const isDefined = (wanted: string) => definitions.some(({ AttributeName }) => AttributeName === wanted);
  if (isDefined(name)) {
    throw invalid(
      `Conflicting attribute definition for '${name}'. An attribute cannot be defined in AttributeDefinitions when ` +
        'used as a VectorAttribute.',
    );
  }
  const names = SearchSchema.map(({ AttributeName }) => AttributeName);
  if (!names.every(isDefined))
    throw invalid('One element in SearchSchema is not defined in attribute definitions');
  const repeated = names.find((name, i) => names.indexOf(name) < i);
  if (repeated !== undefined) throw invalid(`Duplicate element in SearchSchema: ${repeated}`);
}

function checkCount(
  type: 'HASH' | 'INLINE_FILTER',
  most: number,
  schema: NonNullable<VectorIndexInput['SearchSchema']>,
): void {
  const count = schema.filter(element => element.SearchSchemaElementType === type).length;
  if (count <= most) return;
  throw invalid(
    `Value '${count}' at 'SearchSchema' failed to satisfy constraint: Member must have ${type} count less than or ` +
      `equal to ${most}`,
  );
}

function checkSameDimensions(attribute: string, earlier: number | undefined, dimensions: number): void {
  if (earlier === undefined || earlier === dimensions) return;
  throw invalid(
    `Conflicting attribute definition for '${attribute}'. All VectorIndexes on the same vector attribute must use ` +
      'the same dimensions.',
  );
}

const actions = 'VectorIndexUpdate.Create, VectorIndexUpdate.Delete';

export function checkVectorUpdates(
  updates: readonly VectorIndexUpdateInput[],
  definitions: AttributeDefinitionsInput,
): void {
  for (const { Create, Delete } of updates) {
    if (!Create && !Delete) throw invalid(`One of ${actions} must not be null`);
    if (Create && Delete)
      throw invalid('Only one vector index action is allowed per VectorIndexUpdate object');
    if (Create) checkVectorIndex(Create, definitions);
  }
}

// Checks that need the table.
export function checkTableVectors(
  table: Table,
  updates: readonly VectorIndexUpdateInput[],
  billing: Table['billing'],
): void {
  const isKept = vectorsOf(table).length > 0 || updates.some(({ Create }) => Create);
  if (isKept && billing !== 'PAY_PER_REQUEST') throw onDemandOnly();
  for (const { Create } of updates) {
    if (!Create) continue;
    const attribute = Create.VectorAttribute.AttributeName;
    if (table.indexes.some(index => index.name === Create.IndexName))
      throw validationError('Attempting to create an index which already exists');
    checkNoKey(table, attribute, Create.Dimensions);
    for (const index of vectorsOf(table))
      if (index.attribute === attribute) checkSameDimensions(attribute, index.dimensions, Create.Dimensions);
  }
}

function checkNoKey(table: Table, attribute: string, dimensions: number): void {
  for (const { keys } of [table, ...table.indexes]) {
    const key = attributesOfKey(keys).find(({ name }) => name === attribute);
    if (!key) continue;
    const role = key === keys.hash || keys.more?.hash.includes(key) ? 'HASH' : 'RANGE';
    throw invalid(
      'Attributes cannot be redefined. Please check that your attribute has the same type as previously defined. ' +
        `Existing schema: Schema:[SchemaElement: key{${attribute}:${key.type}:${role}}] ` +
        `New schema: VectorIndexSchema:[VectorAttribute: key{${attribute}:L:${dimensions}}]`,
    );
  }
}
