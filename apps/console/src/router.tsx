import { createRootRoute, createRoute, createRouter, redirect } from '@tanstack/react-router';
import { NothingHere } from './components/feedback/nothing-here.tsx';
import { readAccountSearch } from './pages/account/address.ts';
import { readInboxSearch } from './pages/inbox/queries.ts';
import { readInsightsSearch, readSqlSearch } from './pages/lake/address.ts';
import { readTableSearch } from './pages/tables/queries.ts';
import { readTasksSearch } from './pages/tasks/address.ts';
import { isTenantTab, readTenantSearch } from './pages/tenants/address.ts';
import {
  readConnectionsSearch,
  readDaysSearch,
  readEventSearch,
  readEventsSearch,
  readSourceSearch,
  readSourcesSearch,
} from './pages/webhooks/address.ts';
import { session } from './queries/api.ts';
import { signInFor } from './queries/destination.ts';
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
  validateSearch: ({
    to,
    email,
    isNew,
    organisation,
  }): { to?: string; email?: string; isNew?: boolean; organisation?: string } => ({
    to: typeof to === 'string' && /^\/(?![/\\])/.test(to) ? to : undefined,
    email: typeof email === 'string' ? email : undefined,
    isNew: isNew === true ? true : undefined,
    organisation: typeof organisation === 'string' ? organisation : undefined,
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

const signUpMailed = createRoute({
  getParentRoute: () => root,
  path: '/sign-up-mailed',
  component: latePage(() => import('./pages/account/recovery.tsx'), 'SignUpMailedPage'),
});
const finishSignUp = createRoute({
  getParentRoute: () => root,
  path: '/finish-sign-up',
  component: latePage(() => import('./pages/account/recovery.tsx'), 'FinishSignUpPage'),
});

// Links from e-mails and apps that need a signed-in user but are not part of the navigation.
const links = createRoute({
  getParentRoute: () => root,
  id: 'links', // an id, because the path of another page would be the same route
  beforeLoad: ({ location }) => {
    if (!session.isSignedIn()) throw redirect(signInFor(location.href));
  },
});
const verifyEmail = createRoute({
  getParentRoute: () => links,
  path: '/verify-email',
  component: latePage(() => import('./pages/account/recovery.tsx'), 'VerifyEmailPage'),
});
const confirmEmail = createRoute({
  getParentRoute: () => links,
  path: '/confirm-email',
  component: latePage(() => import('./pages/account/recovery.tsx'), 'ConfirmEmailPage'),
});

const authorize = createRoute({
  getParentRoute: () => links,
  path: '/authorize',
  validateSearch: ({ request }): { request?: string } => ({
    request: typeof request === 'string' ? request : undefined,
  }),
  component: latePage(() => import('./pages/account/apps.tsx'), 'AuthorizePage'),
});

// Everything below requires a signed-in user.
const inside = createRoute({
  getParentRoute: () => root,
  id: 'inside',
  beforeLoad: ({ location }) => {
    if (!session.isSignedIn()) throw redirect(signInFor(location.href));
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
  validateSearch: readSourcesSearch,
  component: latePage(() => import('./pages/webhooks/webhooks-page.tsx'), 'WebhooksPage'),
});
const webhookConnections = createRoute({
  getParentRoute: () => inside,
  path: '/webhooks/connections',
  validateSearch: readConnectionsSearch,
  component: latePage(() => import('./pages/webhooks/connections-page.tsx'), 'WebhookConnectionsPage'),
});
const webhookEvents = createRoute({
  getParentRoute: () => inside,
  path: '/webhooks/events',
  validateSearch: readEventsSearch,
  component: latePage(() => import('./pages/webhooks/events-page.tsx'), 'WebhookEventsPage'),
});
const webhookAnalytics = createRoute({
  getParentRoute: () => inside,
  path: '/webhooks/analytics',
  validateSearch: readDaysSearch,
  component: latePage(() => import('./pages/webhooks/analytics-page.tsx'), 'WebhookAnalyticsPage'),
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
  // Redirects from the former addresses of these pages.
  beforeLoad: ({ location }) => {
    const { view } = location.search as { view?: unknown };
    if (view === 'insights') throw redirect({ to: '/data/insights', search: { service: 'tasks' } });
    if (view === 'sql') throw redirect({ to: '/data/sql' });
  },
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
  beforeLoad: ({ params, search }) => {
    if (isTenantTab(search.tab)) throw redirect({ to: '/tenants/$tenant', params, search });
  },
  component: latePage(() => import('./pages/tenants/tenant-page.tsx'), 'AgentPage'),
});
const tenants = createRoute({
  getParentRoute: () => inside,
  path: '/tenants',
  component: latePage(() => import('./pages/tenants/tenants-page.tsx'), 'TenantsPage'),
});
const tenant = createRoute({
  getParentRoute: () => inside,
  path: '/tenants/$tenant',
  validateSearch: readTenantSearch,
  component: latePage(() => import('./pages/tenants/tenant-page.tsx'), 'TenantPage'),
});
const insights = createRoute({
  getParentRoute: () => inside,
  path: '/data/insights',
  validateSearch: readInsightsSearch,
  component: latePage(() => import('./pages/lake/insights-page.tsx'), 'InsightsPage'),
});
const sql = createRoute({
  getParentRoute: () => inside,
  path: '/data/sql',
  validateSearch: readSqlSearch,
  component: latePage(() => import('./pages/lake/sql-page.tsx'), 'SqlPage'),
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
const server = createRoute({
  getParentRoute: () => inside,
  path: '/server',
  component: latePage(() => import('./pages/server/server-page.tsx'), 'ServerPage'),
});
const account = createRoute({
  getParentRoute: () => inside,
  path: '/account',
  validateSearch: readAccountSearch,
  component: latePage(() => import('./pages/account/account-page.tsx'), 'AccountPage'),
});
// Any other address, shown with the navigation.
const nothing = createRoute({ getParentRoute: () => inside, path: '/$', component: NothingHere });

export const router = createRouter({
  basepath: '/console',
  routeTree: root.addChildren([
    signIn,
    invitation,
    join,
    forgotPassword,
    resetPassword,
    signUpMailed,
    finishSignUp,
    links.addChildren([verifyEmail, confirmEmail, authorize]),
    inside.addChildren([
      overview,
      inbox,
      webhooks,
      webhookConnections,
      webhookEvents,
      webhookAnalytics,
      webhookSource,
      webhookEvent,
      tasks,
      agents,
      agentsTenant,
      tenants,
      tenant,
      insights,
      sql,
      tables,
      table,
      server,
      account,
      nothing,
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
