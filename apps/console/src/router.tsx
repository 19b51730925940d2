import { createRootRoute, createRoute, createRouter, redirect } from '@tanstack/react-router';
import { NothingHere } from './components/nothing-here.tsx';
import { type AccountTab, accountTabs } from './pages/account/address.ts';
import { readInboxSearch } from './pages/inbox/queries.ts';
import { readTableSearch } from './pages/tables/queries.ts';
import { readTasksSearch } from './pages/tasks/address.ts';
import { readTenantSearch } from './pages/tenants/address.ts';
import { readDaysSearch, readEventSearch, readSourceSearch } from './pages/webhooks/address.ts';
import { session } from './queries/api.ts';
import { latePage, PageFailure } from './shell/late-module.tsx';
import { Shell } from './shell/shell.tsx';

const root = createRootRoute({
  errorComponent: PageFailure,
});

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  // Only paths of the console: a link must not send a user to another site. Set to undefined explicitly, because a
  // parameter that is left out keeps its old value.
  validateSearch: ({ to, email, isNew }): { to?: string; email?: string; isNew?: boolean } => ({
    to: typeof to === 'string' && /^\/(?![/\\])/.test(to) ? to : undefined,
    email: typeof email === 'string' ? email : undefined,
    isNew: isNew === true ? true : undefined,
  }),
  beforeLoad: () => {
    if (session.isSignedIn()) throw redirect({ to: '/' });
  },
  component: latePage(() => import('./pages/account/sign-in.tsx'), 'SignInPage'),
});

const invitation = createRoute({
  getParentRoute: () => root,
  path: '/invitation',
  component: latePage(() => import('./pages/tenants/invitation-page.tsx'), 'InvitationPage'),
});

const join = createRoute({
  getParentRoute: () => root,
  path: '/join',
  component: latePage(() => import('./pages/account/join.tsx'), 'JoinPage'),
});

const forgotPassword = createRoute({
  getParentRoute: () => root,
  path: '/forgot-password',
  component: latePage(() => import('./pages/account/recovery.tsx'), 'ForgotPasswordPage'),
});
const resetPassword = createRoute({
  getParentRoute: () => root,
  path: '/reset-password',
  component: latePage(() => import('./pages/account/recovery.tsx'), 'ResetPasswordPage'),
});

// Links in mails that need a signed-in user and are not pages of the console to stay on.
const mailed = createRoute({
  getParentRoute: () => root,
  id: 'mailed',
  beforeLoad: ({ location }) => {
    if (!session.isSignedIn()) throw redirect({ to: '/sign-in', search: { to: location.href } });
  },
});
const verifyEmail = createRoute({
  getParentRoute: () => mailed,
  path: '/verify-email',
  component: latePage(() => import('./pages/account/recovery.tsx'), 'VerifyEmailPage'),
});
const confirmEmail = createRoute({
  getParentRoute: () => mailed,
  path: '/confirm-email',
  component: latePage(() => import('./pages/account/recovery.tsx'), 'ConfirmEmailPage'),
});

// Everything below requires a signed-in user.
const inside = createRoute({
  getParentRoute: () => root,
  id: 'inside',
  beforeLoad: ({ location }) => {
    if (!session.isSignedIn()) throw redirect({ to: '/sign-in', search: { to: location.href } });
  },
  component: Shell,
});

const overview = createRoute({
  getParentRoute: () => inside,
  path: '/',
  validateSearch: readDaysSearch,
  component: latePage(() => import('./pages/overview/overview-page.tsx'), 'OverviewPage'),
});
const webhooks = createRoute({
  getParentRoute: () => inside,
  path: '/webhooks',
  validateSearch: readDaysSearch,
  component: latePage(() => import('./pages/webhooks/webhooks-page.tsx'), 'WebhooksPage'),
});
const webhookSource = createRoute({
  getParentRoute: () => inside,
  path: '/webhooks/$source',
  validateSearch: readSourceSearch,
  component: latePage(() => import('./pages/webhooks/source-page.tsx'), 'WebhookSourcePage'),
});
const webhookEvent = createRoute({
  getParentRoute: () => inside,
  path: '/webhooks/$source/events/$event',
  validateSearch: readEventSearch,
  component: latePage(() => import('./pages/webhooks/event-page.tsx'), 'WebhookEventPage'),
});
const tasks = createRoute({
  getParentRoute: () => inside,
  path: '/tasks',
  validateSearch: readTasksSearch,
  component: latePage(() => import('./pages/tasks/tasks-page.tsx'), 'TasksPage'),
});
const inbox = createRoute({
  getParentRoute: () => inside,
  path: '/inbox',
  validateSearch: readInboxSearch,
  component: latePage(() => import('./pages/inbox/inbox-page.tsx'), 'InboxPage'),
});
const agents = createRoute({
  getParentRoute: () => inside,
  path: '/agents',
  component: latePage(() => import('./pages/agents/agents-page.tsx'), 'AgentsPage'),
});
const agentsTenant = createRoute({
  getParentRoute: () => inside,
  path: '/agents/$tenant',
  validateSearch: readTenantSearch,
  component: latePage(() => import('./pages/tenants/tenant-page.tsx'), 'TenantPage'),
});
const tables = createRoute({
  getParentRoute: () => inside,
  path: '/tables',
  component: latePage(() => import('./pages/tables/tables-page.tsx'), 'TablesPage'),
});
const table = createRoute({
  getParentRoute: () => inside,
  path: '/tables/$table',
  validateSearch: readTableSearch,
  component: latePage(() => import('./pages/tables/table-page.tsx'), 'TablePage'),
});
const account = createRoute({
  getParentRoute: () => inside,
  path: '/account',
  validateSearch: ({ tab }): { tab?: AccountTab } => ({
    tab: accountTabs.find(name => name === tab),
  }),
  component: latePage(() => import('./pages/account/account-page.tsx'), 'AccountPage'),
});

export const router = createRouter({
  basepath: '/console',
  routeTree: root.addChildren([
    signIn,
    invitation,
    join,
    forgotPassword,
    resetPassword,
    mailed.addChildren([verifyEmail, confirmEmail]),
    inside.addChildren([
      overview,
      inbox,
      webhooks,
      webhookSource,
      webhookEvent,
      tasks,
      agents,
      agentsTenant,
      tables,
      table,
      account,
    ]),
  ]),
  defaultErrorComponent: PageFailure,
  defaultNotFoundComponent: NothingHere,
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
