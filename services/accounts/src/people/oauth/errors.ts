import { defineErrors } from '@stak/kit';

export const socialErrors = defineErrors({
  'accounts.return_to_refused': 400,
  'accounts.sign_in_expired': 400,
  'accounts.sign_in_denied': 400,
  'accounts.provider_refused': 400,
  'accounts.domain_refused': 403,
  'accounts.not_a_member': 403,
  'accounts.provider_email_unverified': 403,
  'accounts.provider_not_linked': 404,
  'accounts.link_refused': 409,
  'accounts.last_sign_in': 409,
  'accounts.provider_not_configured': 501,
  'accounts.provider_failed': 502,
});

export const refuse = socialErrors.create;
