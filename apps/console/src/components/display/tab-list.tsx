import { Tabs, type TabsListProps } from '@mantine/core';
import { useEffect, useRef } from 'react';

type Props = TabsListProps & { chosen: string };

/** Tabs in one line. On a phone the selected one may be off screen, so it is scrolled into view. */
export function TabList({ chosen, ...rest }: Props) {
  const list = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another tab has another position
  useEffect(() => {
    const tab = list.current?.querySelector('[aria-selected="true"]');
    tab?.scrollIntoView({ block: 'nearest', inline: 'center' });
  }, [chosen]);
  return <Tabs.List ref={list} className="stak-tabs" {...rest} />;
}
