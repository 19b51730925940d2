import { Card, Group, Stack, Text, Title } from '@mantine/core';
import type { TablerIcon } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { TextLink } from '../../components/text-link.tsx';

type Figure = { label: string; value: string; isBad?: boolean };

type Props = {
  title: string;
  to: '/webhooks' | '/inbox' | '/tasks' | '/agents';
  icon: TablerIcon;
  figures: readonly Figure[];
  isPage?: boolean | undefined; // its name stands above it already
  children: ReactNode; // a chart, or why there is none
};

export type ServiceDays = { days: readonly string[]; isPage?: boolean };

// One of the four services: where it is, three numbers, and its last days.
export function ServiceCard({ title, to, icon: Icon, figures, isPage = false, children }: Props) {
  return (
    <Card withBorder component="section" aria-label={title}>
      {!isPage && (
        <Group gap="xs" mb="sm">
          <Icon size={18} stroke={1.6} aria-hidden />
          <Title order={3} size="h5">
            <TextLink to={to} inherit c="inherit">
              {title}
            </TextLink>
          </Title>
        </Group>
      )}
      <Group gap="xl" mb="sm" align="start">
        {figures.map(({ label, value, isBad }) => (
          <Stack key={label} gap={0}>
            <Text size="xs" c="dimmed">
              {label}
            </Text>
            <Text fw={600} size="lg" className="stak-figures" c={isBad ? 'red' : undefined}>
              {value}
            </Text>
          </Stack>
        ))}
      </Group>
      {children}
    </Card>
  );
}

export const chartHeight = 170;

export function NoChart({ children }: { children: ReactNode }) {
  return (
    <Stack h={chartHeight} justify="center" align="center" gap="xs">
      <Text c="dimmed" size="sm" ta="center">
        {children}
      </Text>
    </Stack>
  );
}
