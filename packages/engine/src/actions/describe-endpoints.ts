import type { Context } from '../context.ts';
import { validateEmpty } from '../validation/tables.ts';

export function describeEndpoints(context: Context, input: object) {
  validateEmpty(input);
  return {
    Endpoints: [{ Address: `dynamodb.${context.region}.amazonaws.com`, CachePeriodInMinutes: 1440 }],
  };
}
