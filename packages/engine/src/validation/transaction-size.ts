import { validationError } from '../errors.ts';
import { transactionBytes } from '../limits.ts';

// The size of what a transaction writes, or of what it finds.
export function checkTransactionSize(bytes: number): void {
  if (bytes <= transactionBytes) return;
  throw validationError(
    'Collection size of items exceeded, which can also be caused by the aggregate size of the items in the ' +
      'transaction exceeding the 4MB limit',
  );
}
