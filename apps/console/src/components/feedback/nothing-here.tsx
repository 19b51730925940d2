import { Center, Stack, Text, Title } from '@mantine/core';
import { StakError } from '@stak/client';
import type { ReactNode } from 'react';
import { usePageTitle } from '../../shell/page-title.ts';
import { TextLink } from './text-link.tsx';

export const isMissing = (error: unknown): boolean => error instanceof StakError && error.status === 404;

type Props = { title: string; text: string; children: ReactNode };

// Replaces the whole page if its subject does not exist: says what happened and links back.
export function Missing({ title, text, children }: Props) {
  usePageTitle(title);
  return (
    <Center mih="50vh" p="md">
      <Stack gap="xs" ta="center" align="center">
        <Title order={2}>{title}</Title>
        <Text c="dimmed" maw={480}>
          {text}
        </Text>
        {children}
      </Stack>
    </Center>
  );
}

export const NothingHere = () => (
  <Missing title="There is nothing here" text="Check the address, or start again from the overview.">
    <TextLink to="/">Go to the overview</TextLink>
  </Missing>
);
