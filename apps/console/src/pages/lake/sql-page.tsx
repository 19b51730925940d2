import { Stack, Title } from '@mantine/core';
import { usePageTitle } from '../../shell/page-title.ts';
import SqlBox from './sql-box.tsx';

export function SqlPage() {
  usePageTitle('SQL', 'Data');
  return (
    <Stack>
      <Title order={2}>SQL</Title>
      <SqlBox />
    </Stack>
  );
}
