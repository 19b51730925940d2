import { httpErrors, type Principal } from '@stak/http';
import { isFromThisMachine, type Received } from '../loopback.ts';

// What the explorer looks at in a request. One that no Node server received is not from this machine.
export type Caller = { principal: Principal; request: Received | undefined };

export type Operators = {
  // The account of a demo, for as long as this process runs, and for requests of this machine only.
  admitFromHere(accountId: string): void;
  isOperator(caller: Caller): boolean;
  // Anyone else gets the answer for a path that does not exist.
  assertOperator(caller: Caller): void;
};

export function createOperators(accountIds: readonly string[]): Operators {
  const named = new Set(accountIds);
  const fromHere = new Set<string>();

  function isOperator(caller: Caller): boolean {
    const { principal } = caller;
    // Keys are handed to programs and other people; only a signed-in person may see every customer's data.
    if (principal.kind !== 'account' || principal.via !== 'session') return false;
    // The person: others who work in their organisation are not operators.
    const { accountId, userId = accountId } = principal;
    return named.has(userId) || (fromHere.has(userId) && isFromThisMachine(caller.request));
  }

  return {
    admitFromHere: accountId => void fromHere.add(accountId),
    isOperator,
    assertOperator(caller) {
      if (!isOperator(caller)) throw httpErrors.create('http.not_found', 'There is nothing here.');
    },
  };
}
