import { Center, Group, Paper, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';

/** A page without navigation: signing in, and the pages that links in e-mails open. */
export function CenteredPage({ children }: { children: ReactNode }) {
  return (
    <Center mih="100vh" p="md" component="main">
      <Stack w={400} maw="100%">
        <Group gap="xs" justify="center">
          <img src="/console/icon.svg" width={28} height={28} alt="" />
          <Text fw={700} size="xl">
            Stak
          </Text>
        </Group>
        <Paper withBorder p="xl">
          {children}
        </Paper>
      </Stack>
    </Center>
  );
}
