import { Tabs } from '@mantine/core';
import { type ReactNode, useEffect, useRef } from 'react';

type Props = { chosen: string; children: ReactNode; 'aria-label'?: string };

/** Tabs in one line. On a phone the chosen one may lie beyond the edge, so it is brought into sight. */
export function TabList({ chosen, ...rest }: Props) {
  const list = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another tab is another place
  useEffect(() => {
    const tab = list.current?.querySelector('[aria-selected="true"]');
    tab?.scrollIntoView({ block: 'nearest', inline: 'center' });
  }, [chosen]);
  return <Tabs.List ref={list} className="stak-tabs" {...rest} />;
}
