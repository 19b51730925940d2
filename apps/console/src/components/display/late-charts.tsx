import { Skeleton } from '@mantine/core';
import { type ComponentProps, Suspense } from 'react';
import { lateComponent } from '../../shell/late-module.tsx';
import type { DayBars, DayLine } from './day-charts.tsx';

// The chart library is a third of the console's script, so it is loaded with the first chart.
const Bars = lateComponent(async () => ({ default: (await import('./day-charts.tsx')).DayBars }));
const Line = lateComponent(async () => ({ default: (await import('./day-charts.tsx')).DayLine }));

export const LateBars = (chart: ComponentProps<typeof DayBars>) => (
  <Suspense fallback={<Skeleton h={chart.height ?? 220} />}>
    <Bars {...chart} />
  </Suspense>
);

export const LateLine = (chart: ComponentProps<typeof DayLine>) => (
  <Suspense fallback={<Skeleton h={chart.height ?? 220} />}>
    <Line {...chart} />
  </Suspense>
);
