import { defineErrors } from '@stak/kit';

export const tenantErrors = defineErrors({
  'tenants.not_found': 404,
  'tenants.suspended': 403,
  'tenants.onboarding': 403,
  'tenants.tenant_limit_reached': 402,
  'tenants.user_limit_reached': 402,
  'tenants.id_taken': 409,
  'tenants.status_refused': 409,
  'tenants.channel_not_found': 404,
  'tenants.channel_taken': 409,
  'tenants.user_not_found': 404,
  'tenants.user_exists': 409,
  'tenants.email_taken': 409,
  'tenants.identity_taken': 409,
  'tenants.schema_not_found': 404,
  'tenants.schema_refused': 422,
  'tenants.properties_refused': 422,
  'tenants.invitation_not_found': 404,
  'tenants.just_revoked': 503,
  'tenants.erasure_not_found': 404,
  'tenants.too_large': 413,
  'tenants.settings_refused': 422,
  'tenants.admin_only': 403,
  'tenants.admin_refused': 403,
  'tenants.sign_in_refused': 403,
  'tenants.provider_refused': 400,
  'tenants.provider_not_found': 404,
  'tenants.origin_refused': 403,
  'tenants.session_refused': 401,
  'tenants.no_mail': 501,
});

// The same response for a missing, a deleted and another account's tenant, so that callers cannot distinguish them.
export const noTenant = () => tenantErrors.create('tenants.not_found', 'Tenant not found.');
export const noUser = () => tenantErrors.create('tenants.user_not_found', 'User not found.');

// For values that are valid one by one, but too large once they are merged.
export const tooLarge = (what: string, mostBytes: number) =>
  tenantErrors.create('tenants.too_large', `The ${what} would be more than ${mostBytes} bytes of JSON.`);

// Names each setting that asks for something the server does not have, and what it has.
export const settingsRefused = (problems: readonly { field: string; detail: string }[]) =>
  tenantErrors.create('tenants.settings_refused', problems.map(({ detail }) => detail).join(' '), {
    errors: problems.map(({ field, detail }) => ({
      in: 'body',
      pointer: `#/${field}`,
      code: 'refused',
      detail,
    })),
  });
