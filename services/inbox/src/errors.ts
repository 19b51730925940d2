import { defineErrors } from '@stak/kit';

export const inboxErrors = defineErrors({
  'inbox.key_invalid': 400,
  'inbox.body_invalid': 400,
  'inbox.cta_uri_refused': 400,
  'inbox.schema_refused': 422,
  'inbox.expiry_invalid': 400,
  'inbox.schedule_invalid': 400,
  'inbox.snooze_invalid': 400,
  'inbox.not_found': 404,
  'inbox.settings_not_found': 404,
  'inbox.category_not_found': 404,
  'inbox.erasure_not_found': 404,
  'inbox.user_not_found': 404,
  'inbox.message_not_found': 404,
  'inbox.send_not_found': 404,
  'inbox.host_system_id_taken': 409,
  'inbox.already_sent': 409,
  'inbox.too_many_categories': 409,
  'inbox.category_in_use': 409,
  'inbox.category_being_deleted': 409,
  'inbox.being_erased': 409,
  'inbox.too_many_inboxes': 409,
  'inbox.too_many_broadcasts': 409,
  'inbox.too_many_snoozed': 409,
  'inbox.message_too_large': 413,
  'inbox.redactions_busy': 503,
  'inbox.deletions_busy': 503,
  'inbox.busy': 503,
});

export const inboxNotFound = () => inboxErrors.create('inbox.not_found', 'Inbox not found.');
export const messageNotFound = () => inboxErrors.create('inbox.message_not_found', 'Message not found.');
export const sendNotFound = () => inboxErrors.create('inbox.send_not_found', 'Send not found.');
export const settingsNotFound = () =>
  inboxErrors.create('inbox.settings_not_found', 'This tenant has no inbox settings yet.');
export const categoryNotFound = () => inboxErrors.create('inbox.category_not_found', 'Category not found.');
export const categoryBeingDeleted = () =>
  inboxErrors.create(
    'inbox.category_being_deleted',
    'This category is being deleted with its messages. Try again later.',
  );
