import type { Context } from '../context.ts';
import { validateEmpty } from '../validation/tables.ts';

// The quotas of a new AWS account. The engine does not enforce them; tools that plan capacity read them.
export function describeLimits(_: Context, input: object) {
  validateEmpty(input);
  return {
    AccountMaxReadCapacityUnits: 80_000,
    AccountMaxWriteCapacityUnits: 80_000,
    TableMaxReadCapacityUnits: 40_000,
    TableMaxWriteCapacityUnits: 40_000,
  };
}
