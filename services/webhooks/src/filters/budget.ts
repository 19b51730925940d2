// What evaluating rules may cost, in units of about fifty nanoseconds: a value that is visited is one. Counting is
// exact where a clock would not be, and costs less than asking one.
export type Budget = { left: number };

export class OverBudget extends Error {
  override readonly name = 'OverBudget';
}

export const createBudget = (units: number = Number.POSITIVE_INFINITY): Budget => ({ left: units });

export function spend(budget: Budget, units: number): void {
  budget.left -= units;
  if (budget.left < 0) throw new OverBudget();
}

// Copying, searching and printing go through many characters in that time.
export const spendChars = (budget: Budget, chars: number): void => spend(budget, chars / 64);
