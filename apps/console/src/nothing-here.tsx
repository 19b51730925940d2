import { Center, Stack, Text, Title } from '@mantine/core';
import { TextLink } from './text-link.tsx';

export const NothingHere = () => (
  <Center mih="60vh" p="md" component="main">
    <Stack gap="xs" ta="center">
      <Title order={1} size="h2">
        There is nothing here
      </Title>
      <Text c="dimmed">The address may be mistyped, or what it led to is gone.</Text>
      <TextLink to="/">Go to the overview</TextLink>
    </Stack>
  </Center>
);
