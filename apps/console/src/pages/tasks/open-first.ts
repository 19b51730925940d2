type Finishable = { status: string };

const isFinished = ({ status }: Finishable): boolean => status === 'completed' || status === 'cancelled';

/** Puts open tasks before finished ones, otherwise in the same order: a day shows only its first tasks. */
export const openFirst = <T extends Finishable>(tasks: readonly T[]): T[] => [
  ...tasks.filter(task => !isFinished(task)),
  ...tasks.filter(isFinished),
];
