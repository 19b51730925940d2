import { DynamoError, validationError } from '../errors.ts';
import type { Item } from '../values/attribute-value.ts';
import { validateAttributes } from './attribute-values.ts';

// Query and Scan share these checks.
type ReadInput = {
  Select?: string | undefined;
  IndexName?: string | undefined;
  AttributesToGet?: string[] | undefined;
  ProjectionExpression?: string | undefined;
};

export function checkSelect(input: ReadInput, missingProjection: (message: string) => DynamoError): void {
  const { Select: select, AttributesToGet, ProjectionExpression } = input;
  if (select == null) return;
  const projection =
    ProjectionExpression != null
      ? 'ProjectionExpression'
      : AttributesToGet != null
        ? 'AttributesToGet'
        : undefined;
  if (select === 'SPECIFIC_ATTRIBUTES' && !projection) {
    throw missingProjection(
      'Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES',
    );
  }
  if (select !== 'SPECIFIC_ATTRIBUTES' && projection) {
    const wanted = select === 'COUNT' ? 'only the Count' : select;
    throw validationError(`Cannot specify the ${projection} when choosing to get ${wanted}`);
  }
  if (select === 'ALL_PROJECTED_ATTRIBUTES' && input.IndexName == null) {
    throw validationError('ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName');
  }
}

// Errors about numbers and duplicates have no prefix, unlike other errors about values.
const bare = /contains duplicates|number set|numeric value|significant digits|number with magnitude/;

export function validateStartKey(key: Item | undefined): void {
  if (!key) return;
  try {
    validateAttributes(key);
  } catch (error) {
    if (!(error instanceof DynamoError) || error.name !== 'ValidationException' || bare.test(error.message)) {
      throw error;
    }
    throw validationError(`The provided starting key is invalid: ${error.message}`);
  }
}
