import { judge, type Target, type Verdict } from '../gates.ts';
import { spread } from '../statistics.ts';
import { type ContestantName, isRequired } from './contestants.ts';
import { growthOperations } from './growth.ts';
import { type OperationName, operationNames } from './operations.ts';
import { type InFlight, inFlights, type Results } from './results.ts';

// The targets of the engine. `chosen` lists the parts that this run should measure: a target among them that could not
// be measured is a failure if its contestant is required.

export type Chosen = {
  operations: readonly OperationName[];
  contestants: readonly ContestantName[];
  parts: readonly Part[];
};
export const partNames = ['operations', 'growth', 'opening', 'memory'] as const;
type Part = (typeof partNames)[number];

const overDynoxide = (operation: OperationName): number => (operation === 'get' ? 30 : 12);
// A get returns decoded values where LMDB returns bytes, so it has a separate bound: five raw gets.
const overRaw = (operation: OperationName): number => (operation === 'get' ? 1 / 5 : 0.4);

export function judgeResults(results: Results, chosen: Chosen): Verdict[] {
  return [...speedTargets(results, chosen), ...growthTargets(results, chosen)].map(judge);
}

function speedTargets(results: Results, chosen: Chosen): Target[] {
  const ratio = (
    operation: OperationName,
    inFlight: InFlight,
    ours: ContestantName,
    theirs: ContestantName,
  ) => {
    const cell = results.operations.find(
      result => result.operation === operation && result.inFlight === inFlight,
    );
    const [a, b] = [cell?.contestants[ours], cell?.contestants[theirs]];
    return a && b ? a.opsPerSecond / b.opsPerSecond : undefined;
  };
  const atLeast = (
    operation: OperationName,
    inFlight: InFlight,
    [ours, theirs]: [ContestantName, ContestantName],
    limit: number,
  ): Target => ({
    name: `${operation}, ${inFlight} in flight, ${ours} over ${theirs}`,
    measured: ratio(operation, inFlight, ours, theirs),
    bound: 'at least',
    limit,
    unit: 'times',
    required:
      chosen.parts.includes('operations') &&
      chosen.operations.includes(operation) &&
      [ours, theirs].every(name => chosen.contestants.includes(name) && isRequired(name)),
  });
  return operationNames.flatMap(operation => [
    atLeast(operation, 32, ['in-process', 'dynoxide'], overDynoxide(operation)),
    ...inFlights.flatMap(inFlight => [
      atLeast(operation, inFlight, ['in-process', 'raw-lmdb'], overRaw(operation)),
      atLeast(operation, inFlight, ['http-server', 'dynoxide'], 1),
      ...(operation === 'transaction' ? [] : [atLeast(operation, inFlight, ['http-server', 'dynalite'], 1)]),
    ]),
  ]);
}

function growthTargets({ growth, opening, memory }: Results, { parts }: Chosen): Target[] {
  return [
    ...growthOperations.map(operation => {
      const row = growth.find(row => row.operation === operation);
      return {
        name: `${operation} at 10 k, 100 k and 1 M items, largest difference`,
        measured: row && spread(Object.values(row.sizes).map(measure => measure.opsPerSecond)),
        bound: 'below' as const,
        limit: 1.5,
        unit: 'times' as const,
        required: parts.includes('growth'),
      };
    }),
    {
      name: 'opening 1 M items over opening an empty store',
      measured: opening && opening.fullMs / opening.emptyMs,
      bound: 'at most',
      limit: 2,
      unit: 'times',
      required: parts.includes('opening'),
    },
    {
      name: 'resident memory while loading 1 M items',
      measured: memory?.privateMb,
      bound: 'below',
      limit: 400,
      unit: 'MB',
      required: parts.includes('memory') && process.platform === 'linux',
    },
  ];
}
