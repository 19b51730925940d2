import { Card, Stack, Title, type TitleProps } from '@mantine/core';
import type { ReactNode } from 'react';

// The heading of a part of a page.
export const Heading = (props: Omit<TitleProps, 'order' | 'size'> & { children: ReactNode }) => (
  <Title order={3} size="h4" {...props} />
);

// A part of a page in a card. Screen readers list it by its heading.
export const Section = ({ title, children }: { title: string; children: ReactNode }) => (
  <Card withBorder component="section" aria-label={title}>
    <Stack>
      <Heading>{title}</Heading>
      {children}
    </Stack>
  </Card>
);
