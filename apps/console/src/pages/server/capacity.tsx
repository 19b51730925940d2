import { Card, Group, Skeleton, Text, Title } from '@mantine/core';
import type { ApiTypes } from '@stak/client';
import { Suspense, useEffect, useState } from 'react';
import { StatusBadge } from '../../components/display/status-badge.tsx';
import { lateComponent } from '../../shell/late-module.tsx';
import { counted, formatNumber, formatTime } from '../../text/format.ts';
import { addSample, type Sample } from './unit-samples.ts';

const UnitsChart = lateComponent(() => import('./units-chart.tsx'));

type Operator = NonNullable<ApiTypes['system.status']['data']['operator']>;

// Shows operators what DynamoDB would bill for everything this server does.
export function Capacity({ at, capacity, dead_letters }: Operator & { at: string }) {
  const [samples, setSamples] = useState<readonly Sample[]>([]);
  const { read_units, write_units } = capacity;
  useEffect(() => {
    setSamples(known => addSample(known, { at: Date.parse(at), read: read_units, write: write_units }));
  }, [at, read_units, write_units]);
  return (
    <Card withBorder>
      <Group justify="space-between" mb={4}>
        <Title order={4} size="h5">
          Capacity units per second
        </Title>
        {dead_letters > 0 && (
          <StatusBadge status="failed" label={`${counted(dead_letters, 'dead letter')}: see stak streams`} />
        )}
      </Group>
      <Text size="sm" c="dimmed" mb="sm" className="stak-figures">
        {formatNumber(Math.round(read_units))} read and {formatNumber(Math.round(write_units))} written since{' '}
        {formatTime(capacity.since)}, by all accounts. Only operators see this.
      </Text>
      <Suspense fallback={<Skeleton h={180} />}>
        <UnitsChart samples={samples} />
      </Suspense>
    </Card>
  );
}
