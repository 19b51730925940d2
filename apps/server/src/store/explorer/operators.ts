import { httpErrors, type Principal } from '@stak/http';
import { isFromThisMachine, type NodeRequest } from '../../config/loopback.ts';

// A request that no Node server received is not from this machine.
export type Caller = { principal: Principal; request: NodeRequest | undefined };

export type Operators = {
  // The account of a demo, while this process runs, and for requests of this machine only.
  admitFromHere(accountId: string): void;
  isOperator(caller: Caller): boolean;
  // Others get the response for a path that does not exist.
  assertOperator(caller: Caller): void;
};

export function createOperators(accountIds: readonly string[]): Operators {
  const named = new Set(accountIds);
  const fromHere = new Set<string>();

  function isOperator(caller: Caller): boolean {
    const { principal } = caller;
    // Keys are given to programs and other people; only a signed-in person may see all customers' data.
    if (principal.kind !== 'account' || principal.via !== 'session') return false;
    // The person: other members of their organisation are not operators.
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
