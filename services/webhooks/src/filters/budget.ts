// The budget of one evaluation of rules, in units of about fifty nanoseconds: visiting a value costs one. Counting is exact
// and cheaper than reading a clock.
export type Budget = { left: number };

export class OverBudget extends Error {
  override readonly name = 'OverBudget';
}

export const createBudget = (units: number = Number.POSITIVE_INFINITY): Budget => ({ left: units });

export function spend(budget: Budget, units: number): void {
  budget.left -= units;
  if (budget.left < 0) throw new OverBudget();
}

// Copying, searching and serialising process many characters per unit.
export const spendChars = (budget: Budget, chars: number): void => spend(budget, chars / 64);
