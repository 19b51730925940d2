import { defineErrors } from '@stak/kit';

/** The errors of this package: a refused condition, a busy store and others. */
export const tableErrors = defineErrors({
  'table.key_refused': 400,
  'table.item_refused': 400,
  'table.cursor_refused': 400,
  'table.condition_failed': 409,
  'table.transaction_failed': 409,
  'table.design_mismatch': 500,
  'table.busy': 503,
  'store.full': 507,
});

export const keyRefused = (message: string, details?: { attribute: string }) =>
  tableErrors.create('table.key_refused', message, details);

export const itemRefused = (message: string, details?: unknown) =>
  tableErrors.create('table.item_refused', message, details);

/** Whether a write was refused because of the stored item, which its schema does not allow: it never succeeds. */
export const isMalformed = (error: unknown): boolean =>
  tableErrors.includes(error) && error.code === 'table.item_refused';

/** A design that contradicts itself: a bug, found when its module is loaded. */
export class DesignError extends Error {
  override readonly name = 'DesignError';
}
