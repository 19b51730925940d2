import { Suspense } from 'react';
import { useAnswer } from '../../queries/answers.ts';
import { client } from '../../queries/api.ts';
import { lateComponent } from '../../shell/late-module.tsx';
import { refetchInterval } from './system-refetch.ts';

const SystemStatus = lateComponent(async () => ({
  default: (await import('./system-status.tsx')).SystemStatus,
}));

// For operators: the workers and tables of the server are none of a customer's concern.
export function System() {
  const system = useAnswer(['system-status'], () => client.system.status(), {
    refetchInterval: ({ state }) => (state.data?.operator ? refetchInterval : false),
  });
  if (!system.data?.operator) return null;
  return (
    <Suspense fallback={null}>
      <SystemStatus status={system.data} />
    </Suspense>
  );
}
