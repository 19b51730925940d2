// The meaning of each error code, and what to do about it. The pages and the API document are generated from this; a
// code without a text fails a test.

export const errorTexts: Readonly<Record<string, string>> = {
  'http.body_refused':
    'The request has a body where none belongs, or the body broke off. Send the request without a body, or send it again.',
  'http.cursor_refused':
    'The cursor is not one of this list, these filters and this caller. Start the list again without a cursor.',
  'http.json_invalid': 'The body is not valid JSON in UTF-8. Check the JSON; `detail` says where it ends.',
  'http.request_invalid': 'A field is missing, wrong or unknown. Fix the fields that `errors` names.',
  'http.unauthenticated':
    'There is no valid token: it is missing, expired or revoked. Send a valid token as `Authorization: Bearer …`.',
  'http.principal_refused':
    'This kind of caller may not use the operation. Use an account where an account is needed, and an end user’s token where that is.',
  'http.scope_missing':
    'The token lacks the scope. Use a key or token with the scope that `WWW-Authenticate` names.',
  'http.role_missing': 'Only an owner of the organisation may do this. Ask one of them.',
  'http.not_found': 'There is nothing at this address. Check the path and the ids in it.',
  'http.method_not_allowed': 'The address does not take this method. Use one of the methods in `Allow`.',
  'http.body_too_slow': 'The body did not arrive within 15 seconds. Send it again over a better connection.',
  'http.answer_not_kept':
    'The request with this key was carried out, but its answer was too large to keep. Read the result instead of sending it again.',
  'http.request_in_flight':
    'A request with the same idempotency key is still running. Send it again after `Retry-After`.',
  'http.version_mismatch':
    'The resource has changed since you read it. Read it again, apply your change and send the new ETag.',
  'http.body_too_large': 'The body is larger than the operation takes. Send less, or split it.',
  'http.media_type_refused':
    'The body is not `application/json`, or it is compressed. Send plain JSON with the right `Content-Type`.',
  'http.idempotency_mismatch':
    'The idempotency key was used for another request. Use a new key for a new request.',
  'http.version_required': 'The operation needs the version you have read. Send the ETag as `If-Match`.',
  'http.rate_limited': 'You have sent too many requests. Wait for `Retry-After` seconds.',
  'http.headers_too_large': 'The headers are larger than 16 KB. Send fewer or shorter headers.',
  'http.internal': 'Something failed on the server. Try again; if it persists, report the `request_id`.',
  'http.unavailable': 'The server has too much to do right now. Try again after `Retry-After`.',

  'table.cursor_refused': 'The cursor does not belong to this query. Start the list again without a cursor.',
  'table.item_refused':
    'The item does not fit its table. Check the values against the schema of the operation.',
  'table.key_refused': 'A key is empty or too long. Use shorter ids.',
  'table.condition_failed':
    'The item was changed by another request first. Read it again and repeat the change.',
  'table.transaction_failed':
    'One of the items was changed by another request first. Read them again and repeat the change.',
  'table.design_mismatch':
    'A table does not have the design this version expects. Run `stak tables create`, or ask your operator.',
  'store.full':
    'The disk of the server is full. Nothing was changed. Try again when its operator has made room.',
  'table.busy': 'The store is throttling. Try again after `Retry-After`.',
  'streams.consumer_unknown': 'There is no consumer of this name. Check the name with `stak streams`.',

  'accounts.email_unchanged': 'The new address is the one you have. Nothing needs to be done.',
  'accounts.event_unreadable': 'The billing event is not valid. Check the webhook in Stripe and its secret.',
  'accounts.key_expiry_past': 'The expiry of the key is in the past. Choose a later time.',
  'accounts.app_unknown':
    'The app has not registered here, or its registration has expired. Remove the connection in the app, and connect again.',
  'accounts.app_redirect_refused':
    'The app asked for a redirect address that it has not registered. Report it to the makers of the app.',
  'accounts.app_request_expired': 'The request of the app is older than ten minutes. Start again in the app.',
  'accounts.app_not_found': 'The app is not connected. List the apps to see which are.',
  'accounts.code_required':
    'The password is right, and the account has a second factor. Send it again with `code` or `passkey`.',
  'accounts.code_wrong':
    'The code is wrong or was used already. Wait for the next one of the app, or use a recovery code.',
  'accounts.step_up_needed':
    'The operation needs a second factor that was shown within ten minutes. Call `POST /v1/auth/step-up`, then repeat it.',
  'accounts.factor_exists': 'The account has an authenticator app. Remove it before you add another.',
  'accounts.factor_missing': 'The account does not have this second factor. Add one first.',
  'accounts.session_confined':
    'The session was started through an organisation’s provider, or the key was made for an organisation, and is for that organisation alone. Sign in in another way.',
  'accounts.provider_refused':
    'The provider cannot be used: its issuer is in a network that is not reached from here, or its client secret is missing.',
  'accounts.domain_refused':
    'The organisation’s provider gives no verified address of an allowed domain. Ask an owner of the organisation.',
  'accounts.not_a_member': 'The person was removed from the organisation. Ask one of its admins.',
  'accounts.passkey_refused':
    'The passkey is unknown, its signature or counter is wrong, or its challenge was used or is older than five minutes. Ask for another challenge.',
  'accounts.passkey_exists': 'The account has this passkey already. Use another authenticator.',
  'accounts.passkey_not_found': 'The account has no passkey with this id. List the passkeys again.',
  'accounts.too_many_passkeys': 'The account has as many passkeys as it may have. Remove one first.',
  'accounts.passkeys_unavailable':
    'Passkeys need a server with a domain name. Set `STAK_PUBLIC_URL` to one, or use `localhost` on your own machine.',
  'accounts.disabled': 'The account is disabled. Ask the operator.',
  'accounts.key_address_refused':
    'The key may not be used from this network address. Call from an address that the key allows, or change the key.',
  'accounts.key_tenant_refused': 'The key is limited to other tenants. Use a key that includes this one.',
  'accounts.password_weak': 'The password is too short or too common. Choose a longer one.',
  'accounts.plan_not_sold': 'This plan cannot be bought. Choose one of `GET /v1/plans`.',
  'accounts.return_to_refused':
    'The address to return to is not one of this server. Use a path of the console.',
  'accounts.sign_in_denied': 'The provider did not let the person sign in. Start the sign-in again.',
  'accounts.sign_in_expired': 'The sign-in took too long or was used already. Start it again.',
  'accounts.token_refused': 'The token of the mail is wrong, used or expired. Ask for a new mail.',
  'accounts.credentials_wrong':
    'The e-mail address or the password is wrong. Check both, or reset the password.',
  'accounts.refresh_refused': 'The refresh token is used, expired or revoked. Sign in again.',
  'accounts.storage_limit_reached':
    'The account has used all the storage of its plan. Delete data or buy a larger plan.',
  'accounts.sign_up_by_mail':
    'This server makes accounts for confirmed addresses. Ask for a mail with `accounts.requestSignUp`.',
  'accounts.email_unverified':
    'The address of the account is not verified. Follow the link in the mail, or ask for another.',
  'accounts.origin_refused':
    'The request comes from a page of another site. Call it from the console, or with a token instead of the cookie.',
  'accounts.password_wrong': 'The current password is wrong. Enter it again, or reset it.',
  'accounts.provider_email_unverified':
    'The provider has not verified the address. Verify it at the provider first.',
  'accounts.sign_in_again': 'The operation needs a fresh sign-in. Sign in again and repeat it.',
  'accounts.seats_taken':
    'All seats of the plan are taken. Remove a member, withdraw an invitation, or choose a larger plan.',
  'accounts.role_refused': 'Your role may not manage this role. Ask an owner.',
  'accounts.invitation_elsewhere':
    'The invitation was sent to another address. Sign in with the address that the mail came to.',
  'accounts.organisation_not_found':
    'You are not a member of this organisation. List yours with `GET /v1/organisations`.',
  'accounts.member_not_found': 'The person is not a member of the organisation. List them and check the id.',
  'accounts.invitation_not_found':
    'The invitation does not exist: it was accepted, withdrawn or has expired. Send another one.',
  'accounts.already_member': 'This person is a member already. Change their role instead.',
  'accounts.last_owner': 'An organisation keeps an owner. Transfer the ownership to another member first.',
  'accounts.too_many_invitations': 'Too many invitations are open. Withdraw some of them.',
  'accounts.too_many_organisations': 'You own as many organisations as you may. Use one of them.',
  'accounts.key_not_found': 'The API key does not exist. List your keys and check the id.',
  'accounts.provider_not_linked': 'The account is not linked to this provider. Nothing needs to be unlinked.',
  'accounts.session_not_found': 'The session does not exist. List your sessions and check the id.',
  'accounts.user_not_found': 'The account does not exist. Check the id.',
  'accounts.already_subscribed': 'The account pays for a plan already. Change it in the billing portal.',
  'accounts.already_verified': 'The address is verified already. Nothing needs to be done.',
  'accounts.being_deleted': 'The account is being deleted. Nothing can be changed.',
  'accounts.changed': 'The account was changed at the same time. Read it again and repeat the change.',
  'accounts.email_taken': 'Another account has this address. Sign in, or use another address.',
  'accounts.identity_taken':
    'Another account is linked to this identity. Sign in to that account and unlink it first.',
  'accounts.last_sign_in': 'It is the last way to sign in. Set a password or link another provider first.',
  'accounts.link_refused':
    'The identity cannot be linked to this account. Sign in with a password and link it in the settings.',
  'accounts.nothing_billed': 'The account pays for nothing. Buy a plan first.',
  'accounts.too_many_keys': 'The account has as many API keys as it may. Revoke one that is not used.',
  'accounts.too_many_saved':
    'The organisation has as many saved views or queries as it may. Remove one before you save another.',
  'accounts.request_exceeds_storage':
    'The request alone is larger than the storage left. Delete data or buy a larger plan.',
  'accounts.too_many_attempts': 'There were too many failed attempts. Wait for `Retry-After` seconds.',
  'accounts.billing_not_configured': 'This server sells no plans. Ask the operator.',
  'accounts.no_mail': 'This server sends no mail. Ask the operator.',
  'accounts.provider_not_configured':
    'This server has no sign-in with this provider. Choose one of `GET /v1/auth/providers`.',
  'accounts.billing_failed': 'The payment service failed. Try again in a few minutes.',
  'accounts.provider_failed': 'The sign-in provider failed. Try again in a few minutes.',
  'accounts.billing_busy': 'A change of the plan is under way. Try again after `Retry-After`.',
  'accounts.busy': 'Too many people sign in right now. Try again after `Retry-After`.',

  'agents.agent_not_found': 'The agent does not exist. List the agents and check the name.',
  'agents.agent_exists': 'There is an agent with this name, or it has changed since. Read it again.',
  'agents.agent_refused': 'The agent cannot be used as it is asked for. `detail` and `problems` say why.',
  'agents.agent_not_published': 'The agent has only a draft. Publish it first.',
  'agents.agent_is_settings': 'The agent `default` is the settings of the tenant. Change those.',
  'agents.too_many_agents': 'The tenant has as many agents as it may. Delete one that is not used.',
  'agents.version_not_found': 'The agent has no such version. List its versions.',
  'agents.channel_disabled':
    'The channel is not enabled for the tenant. Enable it in the settings of the tenant.',
  'agents.channel_not_found': 'The channel does not exist. Connect it first.',
  'agents.approval_not_found': 'The approval does not exist. List the approvals and check the id.',
  'agents.approval_not_yours': 'You cannot decide this. Ask an admin of the tenant.',
  'agents.approval_decided': 'It was decided before, has expired or was cancelled. `details` says which.',
  'agents.conversation_not_found': 'The conversation does not exist. Check the id.',
  'agents.mcp_server_not_found': 'The MCP server does not exist. List the servers and check the name.',
  'agents.mcp_server_refused': 'The MCP server cannot be used. `detail` says what went wrong.',
  'agents.memory_not_found': 'Nothing is remembered under this id. List the memory and check the id.',
  'agents.message_not_found': 'The message does not exist. Check the id.',
  'agents.skill_not_found': 'The skill does not exist. List the skills and check the name.',
  'agents.user_not_found': 'The user does not exist in the tenant. Create the user first.',
  'agents.conversation_busy':
    'The conversation is answering another message. Wait for that answer, then send again.',
  'agents.conversation_cleared':
    'The conversation was cleared while the message was answered. Send the message again.',
  'agents.conversation_exists': 'There is a conversation with this id. Choose another id.',
  'agents.memory_declined': 'The user declined to be remembered. Ask the user before remembering anything.',
  'agents.memory_full': 'The user’s memory is full. Delete facts that are no longer needed.',
  'agents.model_not_found':
    'The server has no such model, or the caller may not name it. List the models, or name `default`.',
  'agents.no_model': 'No model is configured for the tenant. Choose a provider and a model in the settings.',
  'agents.price_unknown':
    'The price of the model is unknown, so its cost cannot be limited. Choose a model with a known price, or remove the limit.',
  'agents.skill_name_taken': 'A built-in skill has this name. Choose another name.',
  'agents.too_many_skills': 'The tenant has as many skills as it may. Delete one that is not used.',
  'agents.message_refused':
    'The last message of the chat has no text that can be sent. Send a message of the user with text.',
  'agents.message_dropped': 'The message waited too long and was dropped. Send it again.',
  'agents.skill_exists': 'The skill exists already. Send its ETag to replace it.',
  'agents.credentials_refused': 'The channel did not accept the credentials. Check them at the provider.',
  'agents.import_refused': 'The conversation cannot be imported. `detail` says which turn is wrong.',
  'agents.skill_refused': 'The skill is not valid. `detail` says why.',
  'agents.quota_exceeded':
    'The tenant has used its messages of today. Wait until tomorrow or raise the limit.',
  'agents.spend_exceeded': 'The tenant has spent its budget. Wait for the next period or raise the limit.',
  'agents.model_failed': 'The model did not answer. Try again; check the provider’s status if it persists.',

  'inbox.body_invalid':
    'The message does not fit the schema of the inbox. Fix the fields that `errors` names.',
  'inbox.cta_uri_refused':
    'The link has a scheme that the inbox does not allow. Use https, or add the scheme to the inbox.',
  'inbox.expiry_invalid': 'The expiry is in the past or too far away. Choose one within 730 days of sending.',
  'inbox.key_invalid':
    'The key has characters that are not allowed. Use letters, digits, dots, dashes and underscores.',
  'inbox.schedule_invalid':
    'The time to send is in the past or more than a year away. Choose a time within a year.',
  'inbox.snooze_invalid':
    'The time to wake up is in the past or too far away. Choose a later or nearer time.',
  'inbox.category_not_found':
    'The category does not exist in the inbox. List the categories and check the name.',
  'inbox.erasure_not_found': 'The deletion does not exist, or it ended long ago. Check the id.',
  'inbox.message_not_found': 'The message does not exist, or it has expired. Check the id.',
  'inbox.not_found': 'The inbox does not exist. Create it first.',
  'inbox.send_not_found': 'The send does not exist. List the sends and check the id.',
  'inbox.settings_not_found': 'The tenant has no inbox settings yet. Write them first.',
  'inbox.user_not_found': 'The user does not exist in the tenant. Create the user first.',
  'inbox.already_sent': 'The message has been sent. Redact it instead of cancelling it.',
  'inbox.being_erased': 'The inbox is being deleted. Wait until it is done.',
  'inbox.category_being_deleted': 'The category is being deleted. Wait until it is done.',
  'inbox.category_in_use': 'The category has messages. Delete it with its messages, or move them.',
  'inbox.host_system_id_taken':
    'A message with this `host_system_id` exists. Nothing needs to be sent again.',
  'inbox.too_many_broadcasts':
    'The inbox has as many live messages to everyone as it may. Let some expire or redact them.',
  'inbox.too_many_categories': 'The inbox has as many categories as it may. Use one that exists.',
  'inbox.too_many_inboxes': 'The tenant has as many inboxes as it may. Delete one that is not used.',
  'inbox.too_many_snoozed': 'The user has snoozed as many messages as they may. Wake some up first.',
  'inbox.message_too_large': 'The message is too large to be stored. Send a shorter one.',
  'inbox.schema_refused': 'The schema is not valid or too expensive to check. `detail` says why.',
  'inbox.busy': 'The user’s inbox is written by too many at once. Try again after `Retry-After`.',
  'inbox.deletions_busy': 'Too many deletions are under way. Try again after `Retry-After`.',
  'inbox.redactions_busy': 'Too many redactions are under way. Try again after `Retry-After`.',

  'lake.query_too_large': 'The query or its result is too large. Ask for fewer rows or columns.',
  'lake.query_too_slow': 'The query took too long. Narrow it down, for example to fewer days.',
  'lake.sql_failed': 'The query could not be run. `detail` says why.',
  'lake.sql_forbidden': 'The query does more than read. Use SELECT only.',
  'lake.sql_invalid': 'The SQL is not valid. `detail` says where.',
  'lake.insight_not_found': 'The insight does not exist. List the insights and check the name.',
  'lake.table_not_found': 'The table does not exist in the lake. List the tables and check the name.',
  'lake.file_not_found': 'The file is no longer part of the table. Load the table again.',
  'lake.range_not_satisfiable': 'The file does not have these bytes. Ask for its size first.',
  'lake.busy': 'Too many queries are running. Try again after `Retry-After`.',

  'tasks.filter_refused': 'The filter is not valid. `detail` names the term and its place.',
  'tasks.recurrence_refused':
    'The recurrence rule is not valid or never happens. Check the RRULE and the due date.',
  'tasks.reminder_refused':
    'The reminder has no due date to count from, or lies too far away. Set a due date or a moment.',
  'tasks.user_refused': 'The user does not exist. Check the id.',
  'tasks.feed_not_found': 'The address of the calendar is wrong or revoked. Create a new one.',
  'tasks.task_not_found': 'The task does not exist. Check the id.',
  'tasks.email_taken': 'Another user has this address. Use another one.',
  'tasks.limit_reached':
    'There are as many tasks, subtasks or labels as there may be. Delete or finish some.',
  'tasks.order_refused': 'The task cannot be moved there. Move it next to a task of the same list.',
  'tasks.parent_refused':
    'The task cannot have this parent. A subtask has no subtasks, and none is its own parent.',
  'tasks.task_purged': 'The task was deleted permanently. It cannot be restored.',
  'tasks.token_expired': 'The sync token is too old. Start the sync again without a token.',
  'tasks.busy': 'The user’s tasks are written by too many at once. Try again after `Retry-After`.',

  'tenants.admin_only': 'Only admins of the tenant can do this, with a token that holds `tenant:manage`.',
  'tenants.admin_refused': 'Only the account can set this. `errors` names the fields.',
  'tenants.provider_refused':
    'The provider cannot be used: its address is not reachable from here, or its client secret is missing. Check the settings.',
  'tenants.provider_not_found': 'The tenant has no provider of its own. Set one first.',
  'tenants.sign_in_refused': 'The code or link is wrong, used or too old. Ask for another one.',
  'tenants.session_refused': 'The session has ended. Sign in again.',
  'tenants.origin_refused': 'The request came from a page of another site. Send it from the portal.',
  'tenants.no_mail': 'The server sends no mail. Set `STAK_SMTP_URL`.',
  'tenants.onboarding': 'The tenant is not active yet. Activate it first.',
  'tenants.suspended': 'The tenant is suspended. Activate it to continue.',
  'tenants.channel_not_found': 'The channel does not exist. Check its type and id.',
  'tenants.erasure_not_found': 'The erasure does not exist. Check the id.',
  'tenants.invitation_not_found': 'The invitation is unknown, used or expired. Ask for a new one.',
  'tenants.not_found': 'The tenant does not exist. Check the id.',
  'tenants.schema_not_found': 'The tenant has no schema for custom properties. Write one first.',
  'tenants.user_not_found': 'The user does not exist in the tenant. Create the user first.',
  'tenants.tenant_limit_reached':
    'The plan has no room for another tenant. Delete one, or choose a larger plan.',
  'tenants.user_limit_reached':
    'The plan has no room for another user of this tenant. Delete one, or choose a larger plan.',
  'tenants.channel_taken': 'Another tenant has this channel. Release it there first.',
  'tenants.email_taken': 'Another user of the tenant has this address. Use another one.',
  'tenants.id_taken': 'There is a tenant with this id. Choose another id.',
  'tenants.identity_taken': 'Another user has this identity. Remove it there first.',
  'tenants.status_refused': 'The tenant cannot change to this status. Check its status first.',
  'tenants.user_exists': 'There is a user with this id. Choose another id or update the user.',
  'tenants.too_large': 'The item would be too large to be stored. Store less in it.',
  'tenants.properties_refused':
    'The custom properties do not fit the schema. Fix the fields that `errors` names.',
  'tenants.schema_refused': 'The schema is not valid or too expensive to check. `detail` says why.',
  'tenants.settings_refused': 'The settings are not valid. `detail` says which.',
  'tenants.just_revoked': 'Tokens of the user were revoked a moment ago. Mint a new one after `Retry-After`.',

  'webhooks.signature_refused':
    'The signature is missing, wrong or too old. Check the signing secret of the source and the sender’s clock.',
  'webhooks.quota_exceeded':
    'The account has used its events of this month. Wait for the next month or buy a larger plan.',
  'webhooks.storage_limit_reached': 'The account has no storage left. Delete data or buy a larger plan.',
  'webhooks.connection_not_found': 'The connection does not exist. Check the id.',
  'webhooks.event_not_found': 'The event does not exist, or its retention has ended. Check the id.',
  'webhooks.job_not_found': 'The job does not exist. Check the id.',
  'webhooks.source_not_found': 'The source does not exist. Check the id in the address.',
  'webhooks.cannot_sign':
    'A test event cannot be signed for this source. Set a signing secret, or send a test from the provider.',
  'webhooks.too_many_connections':
    'The source has as many connections as it may. Delete one that is not used.',
  'webhooks.too_many_jobs': 'Too many jobs are running. Wait for one to finish, or cancel it.',
  'webhooks.too_many_sources': 'The account has as many sources as it may. Delete one that is not used.',
  'webhooks.source_paused': 'The source is paused and takes no events. Resume it.',
  'webhooks.body_too_large': 'The body is larger than the plan allows. Send less, or buy a larger plan.',
  'webhooks.destination_refused':
    'Stak does not send to this address. Use a public https address; `details.reason` says what is wrong.',
  'webhooks.field_refused': 'A field does not apply to this kind of source. Leave it out.',
  'webhooks.range_too_long': 'The time range is too long. Ask for fewer days.',
  'webhooks.rules_failed': 'The filter or the transform failed. `detail` says why.',
  'webhooks.rate_limited': 'The source receives more than its limit. Send again after `Retry-After`.',
  'webhooks.headers_too_large': 'The headers or the query are too large. Send fewer or shorter headers.',
  'webhooks.busy': 'Too many of your rules are running. Try again after `Retry-After`.',
};
