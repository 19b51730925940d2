import { Group, Progress, Stack, Text } from '@mantine/core';
import { formatNumber } from '../../text/format.ts';

export type Share = { label: string; count: number; color: string };

// The parts of a whole, one line each, without the chart library.
export function Shares({ shares }: { shares: readonly Share[] }) {
  const most = Math.max(1, ...shares.map(share => share.count));
  return (
    <Stack gap="sm">
      {shares.map(({ label, count, color }) => (
        <div key={label}>
          <Group justify="space-between" mb={4}>
            <Text size="sm">{label}</Text>
            <Text size="sm" className="stak-figures">
              {formatNumber(count)}
            </Text>
          </Group>
          <Progress value={(100 * count) / most} color={color} aria-hidden />
        </div>
      ))}
    </Stack>
  );
}
