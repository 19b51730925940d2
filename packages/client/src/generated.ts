// Generated from the OpenAPI document by scripts/generate.ts: change the routes instead.

export type AccountsGetMeData = {
  userId: string;
  email: string;
  emailVerified: boolean;
  name: string;
  plan: 'free' | 'starter' | 'pro' | 'team';
  hasPassword: boolean;
  githubId?: string;
  googleId?: string;
  usageThisMonth: number;
  usagePeriodStart: string;
  createdAt: string;
  updatedAt: string;
};

export type AccountsLogInData = {
  access_token: string;
  token_type: 'Bearer';
  expires_in: number;
  session_id: string;
  refresh_token?: string;
};

export type FieldError = {
  in: 'body' | 'query' | 'path' | 'header';
  pointer: string;
  code: string;
  detail: string;
};

export type Problem = {
  type: string;
  title: string;
  status: number;
  code: string;
  detail: string;
  request_id: string;
  errors?: Array<FieldError>;
  details?: unknown;
};

export type TenantsAcceptInvitationData = {
  tenant_id: string;
  user_id: string;
  email?: string;
  display_name: string;
  role: 'admin' | 'member';
  channel_identities: { [name: string]: string };
  preferences: { [name: string]: unknown };
  custom_properties: { [name: string]: unknown };
  memory_summary?: string;
  memory_updated_at?: string;
  created_at: string;
  updated_at: string;
  version: number;
};

export type TenantsClaimChannelData = {
  tenant_id: string;
  type: string;
  channel_id: string;
  created_at: string;
};

export type TenantsCreateData = {
  tenant_id: string;
  name: string;
  status: 'onboarding' | 'active' | 'suspended';
  created_at: string;
  updated_at: string;
  version: number;
};

export type TenantsDeleteData = {
  erasure_id: string;
  tenant_id: string;
  subject: 'tenant' | 'user';
  user_id?: string;
  status: 'waiting' | 'running' | 'done';
  steps: Array<string>;
  steps_done: Array<string>;
  failures: number;
  created_at: string;
  finished_at?: string;
};

export type TenantsGetSettingsData = {
  ai_provider: string;
  ai_model: string;
  system_prompt_override: string;
  max_tokens_per_message: number;
  enabled_channels: Array<string>;
  enabled_skills: Array<string>;
  custom_skills: Array<string | { [name: string]: unknown }>;
  messages_per_day: number;
  max_conversation_history: number;
  [name: string]: unknown;
};

export type ApiTypes = {
  /** Change or set your password. For: session, scope admin. */
  'accounts.changePassword': {
    args: { body: { currentPassword?: string; newPassword: string } };
    data: undefined;
  };
  /** Make an API key. For: session, scope admin. */
  'accounts.createKey': {
    args: { body: { name: string; permissions: 'read' | 'write' | 'admin' } };
    data: {
      keyId: string;
      name: string;
      keyPrefix: string;
      permissions: 'read' | 'write' | 'admin';
      lastUsedAt?: string;
      createdAt: string;
      key: string;
    };
  };
  /** Revoke an API key. For: session, scope admin. */
  'accounts.deleteKey': { args: { keyId: string }; data: undefined };
  /** Delete your account and everything in it. For: session, scope admin. */
  'accounts.deleteMe': { args: { body: { password?: string } }; data: undefined };
  /** End one of your sessions. For: session, scope write. */
  'accounts.endSession': { args: { sessionId: string }; data: undefined };
  /** Sign out everywhere, also here. For: session, scope write. */
  'accounts.endSessions': { args: Record<never, never>; data: undefined };
  /** Back from the provider. For: public. */
  'accounts.finishProviderSignIn': {
    args: { provider: 'github' | 'google'; code?: string; state?: string; error?: string; iss?: string };
    data: unknown;
  };
  /** Read your account. For: account, scope read. */
  'accounts.getMe': { args: Record<never, never>; data: AccountsGetMeData };
  /** Read what you used this month. For: account, scope read. */
  'accounts.getUsage': {
    args: Record<never, never>;
    data: {
      usagePeriodStart: string;
      usageThisMonth: number;
      plan: 'free' | 'starter' | 'pro' | 'team';
      eventsPerMonth: number;
    };
  };
  /** The public keys that tokens are verified with. For: public. */
  'accounts.jwks': { args: Record<never, never>; data: { keys: Array<{ [name: string]: unknown }> } };
  /** Link an identity at a provider to the account. For: session, scope admin. */
  'accounts.linkProvider': {
    args: { provider: 'github' | 'google'; body: { return_to?: string; password?: string } };
    data: { url: string };
  };
  /** List who did what to your account, newest first. For: account, scope admin. */
  'accounts.listAudit': {
    args: { limit?: number; cursor?: string };
    data: {
      data: Array<{
        auditId: string;
        action: string;
        at: string;
        via: string;
        credentialId?: string;
        address?: string;
        requestId?: string;
        target?: string;
        detail?: string;
      }>;
      next_cursor: string | null;
    };
  };
  /** List your API keys. For: account, scope read. */
  'accounts.listKeys': {
    args: Record<never, never>;
    data: {
      data: Array<{
        keyId: string;
        name: string;
        keyPrefix: string;
        permissions: 'read' | 'write' | 'admin';
        lastUsedAt?: string;
        createdAt: string;
      }>;
      next_cursor: null;
    };
  };
  /** List the plans. For: public. */
  'accounts.listPlans': {
    args: Record<never, never>;
    data: {
      data: Array<{
        plan: 'free' | 'starter' | 'pro' | 'team';
        eventsPerMonth: number;
        eventsPerMinute: number;
        retentionSeconds: number;
      }>;
      next_cursor: null;
    };
  };
  /** Which providers one can sign in with. For: public. */
  'accounts.listProviders': { args: Record<never, never>; data: { data: Array<'github' | 'google'> } };
  /** List where you are signed in. For: session, scope read. */
  'accounts.listSessions': {
    args: Record<never, never>;
    data: {
      data: Array<{
        sessionId: string;
        isCurrent: boolean;
        signedInWith: string;
        address?: string;
        userAgent?: string;
        createdAt: string;
        lastUsedAt: string;
      }>;
      next_cursor: null;
    };
  };
  /** Sign in with a password. For: public. */
  'accounts.logIn': {
    args: { body: { email: string; cookie?: boolean; password: string } };
    data: AccountsLogInData;
  };
  /** End this session. For: session, scope read. */
  'accounts.logOut': { args: Record<never, never>; data: undefined };
  /** Change or cancel what is paid for, see invoices. For: session, scope admin. */
  'accounts.openBillingPortal': { args: { body: { return_to?: string } }; data: { url: string } };
  /** What the account pays for. For: account, scope read. */
  'accounts.readBilling': {
    args: Record<never, never>;
    data: {
      plan: 'free' | 'starter' | 'pro' | 'team';
      status?: string;
      currentPeriodEnd?: string;
      cancelAtPeriodEnd?: boolean;
      plansSold: Array<'starter' | 'pro' | 'team'>;
    };
  };
  /** Exchange a refresh token for new tokens. For: public. */
  'accounts.refresh': { args: { body: { refresh_token?: string } }; data: AccountsLogInData };
  /** Make an account and sign in. For: public. */
  'accounts.signUp': {
    args: { body: { email: string; cookie?: boolean; password: string; name: string } };
    data: AccountsLogInData;
  };
  /** Buy a plan. For: session, scope admin. */
  'accounts.startCheckout': {
    args: { body: { plan: 'starter' | 'pro' | 'team'; return_to?: string } };
    data: { url: string };
  };
  /** Sign in with GitHub or Google. For: public. */
  'accounts.startProviderSignIn': {
    args: { provider: 'github' | 'google'; return_to?: string };
    data: unknown;
  };
  /** Stripe's events, signed by Stripe. For: provider. */
  'accounts.takeStripeEvent': {
    args: { body: string | Uint8Array<ArrayBuffer> | Blob };
    data: { outcome: 'applied' | 'repeated' | 'ignored' };
  };
  /** Unlink the identity at a provider. For: session, scope admin. */
  'accounts.unlinkProvider': { args: { provider: 'github' | 'google' }; data: undefined };
  /** Change your account. For: account, scope admin. */
  'accounts.updateMe': { args: { body: { name: string } }; data: AccountsGetMeData };
  /** Accept an invitation. For: public. */
  'tenants.acceptInvitation': {
    args: { body: { token: string; display_name: string } };
    data: TenantsAcceptInvitationData;
  };
  /** Claim a channel. For: account, scope write. */
  'tenants.claimChannel': {
    args: { tenant_id: string; body: { type: string; channel_id: string } };
    data: TenantsClaimChannelData;
  };
  /** Create a tenant. For: account, scope write. */
  'tenants.create': {
    args: { body: { tenant_id?: string; name: string; status?: 'onboarding' | 'active' } };
    data: TenantsCreateData;
  };
  /** Invite somebody. For: account, scope write. */
  'tenants.createInvitation': {
    args: {
      tenant_id: string;
      body: { email: string; role?: 'admin' | 'member'; user_id?: string; ttl_days?: number };
    };
    data: {
      tenant_id: string;
      invitation_id: string;
      email: string;
      role: 'admin' | 'member';
      user_id: string;
      created_at: string;
      expires_at: string;
      token: string;
    };
  };
  /** Create a user. For: account, scope write. */
  'tenants.createUser': {
    args: {
      tenant_id: string;
      body: {
        user_id?: string;
        email?: string;
        display_name: string;
        role?: 'admin' | 'member';
        channel_identities?: { [name: string]: string };
        preferences?: { [name: string]: unknown };
        custom_properties?: { [name: string]: unknown };
      };
    };
    data: TenantsAcceptInvitationData;
  };
  /** Delete a tenant with everything it has. For: account, scope admin. */
  'tenants.delete': { args: { tenant_id: string }; data: TenantsDeleteData };
  /** Let custom properties be anything. For: account, scope admin. */
  'tenants.deletePropertiesSchema': { args: { tenant_id: string }; data: undefined };
  /** Remove a user. For: account, scope write. */
  'tenants.deleteUser': { args: { tenant_id: string; user_id: string }; data: undefined };
  /** Erase a user in every service. For: account, scope admin. */
  'tenants.eraseUser': { args: { tenant_id: string; user_id: string }; data: TenantsDeleteData };
  /** Export everything there is about a user. For: account, scope read. */
  'tenants.exportUser': { args: { tenant_id: string; user_id: string }; data: undefined };
  /** Read a tenant. For: account, scope read. */
  'tenants.get': { args: { tenant_id: string }; data: TenantsCreateData };
  /** See how far an erasure is. For: account, scope read. */
  'tenants.getErasure': { args: { tenant_id: string; erasure_id: string }; data: TenantsDeleteData };
  /** Read the schema of users' custom properties. For: account, scope read. */
  'tenants.getPropertiesSchema': { args: { tenant_id: string }; data: { [name: string]: unknown } };
  /** Read the settings. For: account, scope read. */
  'tenants.getSettings': { args: { tenant_id: string }; data: TenantsGetSettingsData };
  /** Read a user. For: user, scope read. */
  'tenants.getUser': { args: { tenant_id: string; user_id: string }; data: TenantsAcceptInvitationData };
  /** List your tenants. For: account, scope read. */
  'tenants.list': {
    args: { limit?: number; cursor?: string };
    data: { data: Array<TenantsCreateData>; next_cursor: string | null };
  };
  /** List channels. For: account, scope read. */
  'tenants.listChannels': {
    args: { tenant_id: string; limit?: number; cursor?: string };
    data: { data: Array<TenantsClaimChannelData>; next_cursor: string | null };
  };
  /** List open invitations. For: account, scope read. */
  'tenants.listInvitations': {
    args: { tenant_id: string; limit?: number; cursor?: string };
    data: {
      data: Array<{
        tenant_id: string;
        invitation_id: string;
        email: string;
        role: 'admin' | 'member';
        user_id: string;
        created_at: string;
        expires_at: string;
      }>;
      next_cursor: string | null;
    };
  };
  /** List users, or find one. For: account, scope read. */
  'tenants.listUsers': {
    args: {
      tenant_id: string;
      limit?: number;
      cursor?: string;
      email?: string;
      channel?: string;
      identity?: string;
    };
    data: { data: Array<TenantsAcceptInvitationData>; next_cursor: string | null };
  };
  /** Mint a token for an end user. For: account, scope write. */
  'tenants.mintToken': {
    args: {
      tenant_id: string;
      body: { sub: string; scope?: 'read' | 'write' | 'admin'; ttl_seconds?: number };
    };
    data: { token: string; tenant: string; sub: string; scope: string; expires_at: string };
  };
  /** Define users' custom properties. For: account, scope admin. */
  'tenants.putPropertiesSchema': {
    args: { tenant_id: string; body: { [name: string]: unknown } };
    data: { [name: string]: unknown };
  };
  /** Let go of a channel. For: account, scope write. */
  'tenants.releaseChannel': {
    args: { tenant_id: string; type: string; channel_id: string };
    data: undefined;
  };
  /** Replace the settings. For: account, scope write. */
  'tenants.replaceSettings': {
    args: {
      tenant_id: string;
      body: {
        ai_provider?: string;
        ai_model?: string;
        system_prompt_override?: string;
        max_tokens_per_message?: number;
        enabled_channels?: Array<string>;
        enabled_skills?: Array<string>;
        custom_skills?: Array<string | { [name: string]: unknown }>;
        messages_per_day?: number;
        max_conversation_history?: number;
        [name: string]: unknown;
      };
    };
    data: TenantsGetSettingsData;
    mustMatch: true;
  };
  /** Revoke an invitation. For: account, scope write. */
  'tenants.revokeInvitation': { args: { tenant_id: string; invitation_id: string }; data: undefined };
  /** Revoke the tokens of a user, or of all. For: account, scope write. */
  'tenants.revokeTokens': {
    args: { tenant_id: string; body: { sub?: string } };
    data: { revoked_until: string };
  };
  /** Rename, activate or suspend a tenant. For: account, scope admin. */
  'tenants.update': {
    args: { tenant_id: string; body: { name?: string; status?: 'active' | 'suspended' } };
    data: TenantsCreateData;
  };
  /** Change some settings. For: account, scope write. */
  'tenants.updateSettings': {
    args: {
      tenant_id: string;
      body: {
        ai_provider?: string | null;
        ai_model?: string | null;
        system_prompt_override?: string | null;
        max_tokens_per_message?: number | null;
        enabled_channels?: Array<string> | null;
        enabled_skills?: Array<string> | null;
        custom_skills?: Array<string | { [name: string]: unknown }> | null;
        messages_per_day?: number | null;
        max_conversation_history?: number | null;
        [name: string]: unknown;
      };
    };
    data: TenantsGetSettingsData;
    mustMatch: true;
  };
  /** Change a user. For: account, scope write. */
  'tenants.updateUser': {
    args: {
      tenant_id: string;
      user_id: string;
      body: {
        email?: string | null;
        display_name?: string;
        role?: 'admin' | 'member';
        channel_identities?: { [name: string]: string | null };
        preferences?: { [name: string]: unknown };
        custom_properties?: { [name: string]: unknown };
      };
    };
    data: TenantsAcceptInvitationData;
    mustMatch: true;
  };
};

export const operations = {
  'accounts.changePassword': { method: 'POST', path: '/v1/me/password', body: 'json' },
  'accounts.createKey': { method: 'POST', path: '/v1/api-keys', body: 'json' },
  'accounts.deleteKey': { method: 'DELETE', path: '/v1/api-keys/{keyId}' },
  'accounts.deleteMe': { method: 'POST', path: '/v1/me/deletion', body: 'json' },
  'accounts.endSession': { method: 'DELETE', path: '/v1/sessions/{sessionId}' },
  'accounts.endSessions': { method: 'DELETE', path: '/v1/sessions' },
  'accounts.finishProviderSignIn': { method: 'GET', path: '/v1/auth/{provider}/callback' },
  'accounts.getMe': { method: 'GET', path: '/v1/me' },
  'accounts.getUsage': { method: 'GET', path: '/v1/usage' },
  'accounts.jwks': { method: 'GET', path: '/.well-known/jwks.json' },
  'accounts.linkProvider': { method: 'POST', path: '/v1/auth/{provider}/link', body: 'json' },
  'accounts.listAudit': { method: 'GET', path: '/v1/audit' },
  'accounts.listKeys': { method: 'GET', path: '/v1/api-keys' },
  'accounts.listPlans': { method: 'GET', path: '/v1/plans' },
  'accounts.listProviders': { method: 'GET', path: '/v1/auth/providers' },
  'accounts.listSessions': { method: 'GET', path: '/v1/sessions' },
  'accounts.logIn': { method: 'POST', path: '/v1/auth/login', body: 'json' },
  'accounts.logOut': { method: 'POST', path: '/v1/auth/logout' },
  'accounts.openBillingPortal': { method: 'POST', path: '/v1/billing/portal', body: 'json' },
  'accounts.readBilling': { method: 'GET', path: '/v1/billing' },
  'accounts.refresh': { method: 'POST', path: '/v1/auth/refresh', body: 'json' },
  'accounts.signUp': { method: 'POST', path: '/v1/auth/signup', body: 'json' },
  'accounts.startCheckout': { method: 'POST', path: '/v1/billing/checkout', body: 'json', isKeyed: true },
  'accounts.startProviderSignIn': { method: 'GET', path: '/v1/auth/{provider}/start' },
  'accounts.takeStripeEvent': { method: 'POST', path: '/v1/billing/webhook', body: 'raw' },
  'accounts.unlinkProvider': { method: 'DELETE', path: '/v1/auth/{provider}/link' },
  'accounts.updateMe': { method: 'PATCH', path: '/v1/me', body: 'json' },
  'tenants.acceptInvitation': { method: 'POST', path: '/v1/invitations/accept', body: 'json' },
  'tenants.claimChannel': {
    method: 'POST',
    path: '/v1/tenants/{tenant_id}/channels',
    body: 'json',
    isKeyed: true,
  },
  'tenants.create': { method: 'POST', path: '/v1/tenants', body: 'json', isKeyed: true },
  'tenants.createInvitation': { method: 'POST', path: '/v1/tenants/{tenant_id}/invitations', body: 'json' },
  'tenants.createUser': {
    method: 'POST',
    path: '/v1/tenants/{tenant_id}/users',
    body: 'json',
    isKeyed: true,
  },
  'tenants.delete': { method: 'DELETE', path: '/v1/tenants/{tenant_id}' },
  'tenants.deletePropertiesSchema': { method: 'DELETE', path: '/v1/tenants/{tenant_id}/properties-schema' },
  'tenants.deleteUser': { method: 'DELETE', path: '/v1/tenants/{tenant_id}/users/{user_id}' },
  'tenants.eraseUser': {
    method: 'POST',
    path: '/v1/tenants/{tenant_id}/users/{user_id}/erasure',
    isKeyed: true,
  },
  'tenants.exportUser': { method: 'GET', path: '/v1/tenants/{tenant_id}/users/{user_id}/export' },
  'tenants.get': { method: 'GET', path: '/v1/tenants/{tenant_id}' },
  'tenants.getErasure': { method: 'GET', path: '/v1/tenants/{tenant_id}/erasures/{erasure_id}' },
  'tenants.getPropertiesSchema': { method: 'GET', path: '/v1/tenants/{tenant_id}/properties-schema' },
  'tenants.getSettings': { method: 'GET', path: '/v1/tenants/{tenant_id}/settings' },
  'tenants.getUser': { method: 'GET', path: '/v1/tenants/{tenant_id}/users/{user_id}' },
  'tenants.list': { method: 'GET', path: '/v1/tenants' },
  'tenants.listChannels': { method: 'GET', path: '/v1/tenants/{tenant_id}/channels' },
  'tenants.listInvitations': { method: 'GET', path: '/v1/tenants/{tenant_id}/invitations' },
  'tenants.listUsers': { method: 'GET', path: '/v1/tenants/{tenant_id}/users' },
  'tenants.mintToken': { method: 'POST', path: '/v1/tenants/{tenant_id}/tokens', body: 'json' },
  'tenants.putPropertiesSchema': {
    method: 'PUT',
    path: '/v1/tenants/{tenant_id}/properties-schema',
    body: 'json',
  },
  'tenants.releaseChannel': {
    method: 'DELETE',
    path: '/v1/tenants/{tenant_id}/channels/{type}/{channel_id}',
  },
  'tenants.replaceSettings': { method: 'PUT', path: '/v1/tenants/{tenant_id}/settings', body: 'json' },
  'tenants.revokeInvitation': {
    method: 'DELETE',
    path: '/v1/tenants/{tenant_id}/invitations/{invitation_id}',
  },
  'tenants.revokeTokens': { method: 'POST', path: '/v1/tenants/{tenant_id}/tokens/revoke', body: 'json' },
  'tenants.update': { method: 'PATCH', path: '/v1/tenants/{tenant_id}', body: 'json' },
  'tenants.updateSettings': { method: 'PATCH', path: '/v1/tenants/{tenant_id}/settings', body: 'json' },
  'tenants.updateUser': { method: 'PATCH', path: '/v1/tenants/{tenant_id}/users/{user_id}', body: 'json' },
} as const;
