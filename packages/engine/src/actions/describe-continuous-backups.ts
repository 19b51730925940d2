import type { Context } from '../context.ts';
import { DynamoError } from '../errors.ts';
import { type TableInput, validateTableInput } from '../validation/tables.ts';

// Infrastructure tools ask for every table they keep. Recovery to a point in time is never on.
export function describeContinuousBackups(context: Context, input: TableInput) {
  validateTableInput(input);
  if (!context.catalog.find(input.TableName)) {
    throw new DynamoError('TableNotFoundException', `Table not found: ${input.TableName}`);
  }
  return {
    ContinuousBackupsDescription: {
      ContinuousBackupsStatus: 'ENABLED',
      PointInTimeRecoveryDescription: { PointInTimeRecoveryStatus: 'DISABLED' },
    },
  };
}
