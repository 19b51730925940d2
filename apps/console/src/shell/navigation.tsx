import { NavLink } from '@mantine/core';
import {
  IconBuildingStore,
  IconChartBar,
  IconChecklist,
  IconGauge,
  IconInbox,
  IconMessageChatbot,
  IconSettings,
  IconWebhook,
} from '@tabler/icons-react';
import { type LinkProps, useLinkProps, useRouterState } from '@tanstack/react-router';
import type { ComponentProps } from 'react';
import { type AccountTab, accountTabs } from '../pages/account/address.ts';
import { useIsOperator } from '../pages/tables/queries.ts';
import { useMay } from '../queries/permissions.ts';

type To = NonNullable<LinkProps['to']>;
export type PageLink = { to: To; label: string; search?: Record<string, string> };
type Section = PageLink & { icon: typeof IconGauge; pages?: readonly PageLink[] };

const accountNames: Readonly<Record<AccountTab, string>> = {
  keys: 'API keys',
  billing: 'Plan and billing',
  members: 'Members',
  profile: 'Profile',
  security: 'Security',
  sessions: 'Sessions',
  audit: 'Audit trail',
};

// A section links to its first page.
const sections: readonly Section[] = [
  { to: '/', label: 'Overview', icon: IconGauge },
  { to: '/inbox', label: 'Inbox', icon: IconInbox },
  {
    to: '/webhooks',
    label: 'Webhooks',
    icon: IconWebhook,
    pages: [
      { to: '/webhooks', label: 'Sources' },
      { to: '/webhooks/connections', label: 'Connections' },
      { to: '/webhooks/events', label: 'Events' },
      { to: '/webhooks/analytics', label: 'Analytics' },
    ],
  },
  { to: '/tasks', label: 'Tasks', icon: IconChecklist },
  { to: '/agents', label: 'Agents', icon: IconMessageChatbot },
  { to: '/tenants', label: 'Tenants', icon: IconBuildingStore },
  {
    to: '/data/insights',
    label: 'Data',
    icon: IconChartBar,
    pages: [
      { to: '/data/insights', label: 'Insights' },
      { to: '/data/sql', label: 'SQL' },
      { to: '/tables', label: 'Tables' },
      { to: '/server', label: 'Server' },
    ],
  },
  {
    to: '/account',
    label: 'Settings',
    icon: IconSettings,
    pages: accountTabs.map(tab => ({ to: '/account', label: accountNames[tab], search: { tab } })),
  },
];

// The page of the navigation that an address belongs to.
function isAt({ to, search }: PageLink, path: string, tab: string | undefined): boolean {
  if (search !== undefined) return path === to && (tab ?? accountTabs[0]) === search.tab;
  const isEvent = /^\/webhooks\/src_[^/]+\/events\//.test(path);
  if (to === '/webhooks/events' && isEvent) return true;
  if (to === '/webhooks') return path === to || (/^\/webhooks\/src_/.test(path) && !isEvent);
  return to === '/' ? path === to : path === to || path.startsWith(`${to}/`);
}

/** The sections and pages that this account may see. */
export function useSections(): readonly Section[] {
  const isOperator = useIsOperator();
  const may = useMay();
  const isOpen = ({ to, search }: PageLink) =>
    (!['/tables', '/server'].includes(to) || isOperator) &&
    (search?.tab !== 'audit' || may('accounts.listAudit'));
  return sections.map(section => ({
    ...section,
    ...(section.pages && { pages: section.pages.filter(isOpen) }),
  }));
}

/** Every page with the name of its section: "Webhooks: Events". */
export const pagesOf = (all: readonly Section[]): PageLink[] =>
  all.flatMap(({ pages, label, to }) =>
    pages ? pages.map(page => ({ ...page, label: `${label}: ${page.label}` })) : [{ to, label }],
  );

// A router link counts as the current page on every page below it, so the list decides instead.
function PlainLink({ isCurrent, ...props }: LinkProps & ComponentProps<'a'> & { isCurrent: boolean }) {
  const { 'aria-current': _, ...link } = useLinkProps(props) as ComponentProps<'a'>;
  return <a {...link} aria-current={isCurrent ? 'page' : undefined} />;
}

type Props = { sections: readonly Section[]; onLeave: () => void };

// The open section shows its pages.
export function Navigation({ sections: shown, onLeave }: Props) {
  const path = useRouterState({ select: state => state.location.pathname });
  const tab = useRouterState({ select: state => (state.location.search as { tab?: string }).tab });
  return (
    <nav aria-label="Main">
      {shown.map(({ icon: Icon, pages, ...section }) => {
        const isOpen = pages?.some(page => isAt(page, path, tab)) ?? false;
        return (
          <div key={section.label}>
            <NavLink
              component={PlainLink}
              to={section.to}
              label={section.label}
              leftSection={<Icon size={18} stroke={1.6} aria-hidden />}
              active={!pages && isAt(section, path, tab)}
              isCurrent={!pages && isAt(section, path, tab)}
              fw={isOpen ? 600 : undefined}
              onClick={onLeave}
            />
            {isOpen && (
              <div className="stak-subnav">
                {pages!.map(page => {
                  const isHere = isAt(page, path, tab);
                  return (
                    <NavLink
                      key={page.label}
                      component={PlainLink}
                      to={page.to}
                      search={() => (page.search ?? {}) as never}
                      label={page.label}
                      active={isHere}
                      isCurrent={isHere}
                      onClick={onLeave}
                    />
                  );
                })}
              </div>
            )}
          </div>
        );
      })}
    </nav>
  );
}
