import { defineErrors } from '@stak/kit';

export const accountsErrors = defineErrors({
  'accounts.password_weak': 400,
  'accounts.token_refused': 400,
  'accounts.email_unchanged': 400,
  'accounts.key_expiry_past': 400,
  'accounts.credentials_wrong': 401,
  'accounts.refresh_refused': 401,
  'accounts.storage_limit_reached': 402,
  'accounts.origin_refused': 403,
  'accounts.password_wrong': 403,
  'accounts.sign_in_again': 403,
  'accounts.email_unverified': 403,
  'accounts.disabled': 403,
  'accounts.key_address_refused': 403,
  'accounts.key_tenant_refused': 403,
  'accounts.user_not_found': 404,
  'accounts.key_not_found': 404,
  'accounts.session_not_found': 404,
  'accounts.email_taken': 409,
  'accounts.identity_taken': 409,
  'accounts.too_many_keys': 409,
  'accounts.being_deleted': 409,
  'accounts.changed': 409,
  'accounts.already_verified': 409,
  'accounts.request_exceeds_storage': 413,
  'accounts.too_many_attempts': 429,
  'accounts.no_mail': 501,
  'accounts.busy': 503,
});

export const userNotFound = () => accountsErrors.create('accounts.user_not_found', 'There is no such user.');
