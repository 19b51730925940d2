import type { Measure, Plan } from '../harness.ts';
import { measureOperations } from '../in-process-rounds.ts';
import { bundledProgram } from './program.ts';

export const operationNames = ['query', 'list', 'list route', 'get', 'create', 'status'] as const;
export type OperationName = (typeof operationNames)[number];
export type Store = 'small' | 'large';
type MeasureName = `${OperationName}, ${Store}`;

export type OperationSettings = {
  folder: string;
  small: number; // tasks of the only user
  large: { users: number; tasksEach: number };
};
export type Operations = {
  small: number;
  large: number;
  measures: Record<MeasureName, Measure>;
};

export async function measureTasks(settings: OperationSettings, plan: Plan): Promise<Operations> {
  const { small, large } = settings;
  const measures = await measureOperations({
    module: await bundledProgram(import.meta.resolve('./operations-script.ts'), settings.folder),
    settings,
    names: operationNames.flatMap(name => [`${name}, small`, `${name}, large`] as const),
    inFlight: 1,
    plan,
  });
  return { small, large: large.users * large.tasksEach, measures };
}
