// The limits of this service, each with its reason.

export const slugChars = 63; // a tenant's id may become a host name, whose labels are no longer
export const nameChars = 200; // display names of tenants and users
export const userIdChars = 128; // the host's own ids: a UUID, an e-mail address, an `auth0|…`
export const emailChars = 254; // what SMTP can deliver to (RFC 5321)
export const channelTypeChars = 32;
export const channelIdChars = 200; // a Teams id has about 100

export const identitiesPerUser = 20; // each is a lock in the user's transaction, old and new: 44 steps of 100
export const recountMs = 60 * 60_000; // how often the tenants or users of a full plan are counted again at most
export const notifiedShares = [80, 100] as const; // percent of a plan's tenants or users at which the account is notified
export const rememberedShares = 10_000; // limits that this process does not report again; the mail itself is sent once
export const rememberedAccounts = 10_000; // of tenants: two ids each
export const settingsBytes = 64 * 1024; // with the rest of the tenant far below an item's 400 KB
export const rememberedSettingsChars = 8 * 1024; // of those; parsed, a text may take thirty times its size
export const rememberedSettings = 200; // tenants whose settings are not parsed again
export const promptChars = 20_000; // is sent to the model with every message
export const tokensPerMessage = 200_000; // no model returns a longer response
export const conversationHistory = 1000; // messages that are read for every turn
export const messagesPerDay = 10_000_000;
export const listedNames = 100; // channels or skills of a tenant's settings

export const preferencesBytes = 16 * 1024; // read with every read of the user
export const propertiesBytes = 16 * 1024;

export const schemaBytes = 16 * 1024; // read with every write of custom properties
export const schemaParts = 500; // nested schemas, and values they list
export const schemaDepth = 16; // checking recurses

export const invitationTtlDays = 14;
export const invitationTtlDaysDefault = 7; // covers a holiday, but does not stay valid in a forgotten mailbox
export const invitationSecretBytes = 32; // 256 bits: cannot be guessed
export const acceptsPerMinute = 20; // per address; a person accepts once

export const logoBytes = 24 * 1024; // of a data: URL, so that the settings have room for the rest
export const logoUrlChars = 2048;
export const frameAncestors = 20; // pages of a host that show the portal; they are a header of every response
export const originChars = 300; // a host name has 253 at most
export const portalInboxes = 20; // shown as a choice

export const signInCodeDigits = 8; // with the tries and mails below, one guess in four million an hour
export const signInTries = 5; // of a code
export const signInTtlS = 15 * 60; // the code of an old mail is useless
export const signInSecretBytes = 32;
export const signInsPerMinute = 10; // requests of an address for mail
export const signInTriesPerMinute = 30; // of an address: a person types a code, and types it again
export const refreshesPerMinute = 120; // of an address: many users of one company open the portal at nine
export const sessionS = 30 * 24 * 60 * 60; // then users sign in again, however active they were
export const sessionIdleS = 14 * 24 * 60 * 60;
export const sessionsPerUser = 20; // devices and browsers; the least recently used one is dropped
export const sessionTokenS = 15 * 60; // for the tokens of a session
export const refreshGraceMs = 60_000; // a lost response is requested again by then
export const refreshAttempts = 3; // if another request rotates at the same moment
export const userAgentChars = 300;

export const issuerChars = 500; // of a provider, and below: what a tenant may set
export const clientChars = 500;
export const domains = 20;
export const domainChars = 253; // what DNS allows
export const subjectChars = 255; // what OpenID Connect allows (core 1.0, section 2)
export const callbackChars = 2048; // a code or a state; Azure's codes have 1,500 characters

export const scopeChars = 500; // all scopes together fit several times
export const tokenTtlS = 24 * 60 * 60; // a leaked token is useless the day after
export const tokenTtlLeastS = 60; // a shorter one would be useless if clocks differ
export const tokenTtlDefaultS = 60 * 60;
export const revocationWaitMs = 2_000; // a token of the second of a revocation waits for the next one
export const epochFreshMs = 1_000; // how long another process may honour a token that was revoked here
export const epochsKept = 20_000; // end users of a busy process; the least recently used one is read again

export const erasureGraceMs = 60_000; // longer than a request may run: earlier requests have ended by then
export const erasureLeaseMs = 60_000; // longer than one call of an eraser; without `owners`, a crash delays a job this long
export const erasurePollMs = 5_000; // one read of a list that is almost always empty
export const erasureBackoffMs = 30_000; // after a failure, times the failures in a row
export const erasureBackoffMostMs = 60 * 60_000; // a service that is down for a day costs 24 attempts
export const erasureTenants = 25; // of an account that one call of our own eraser starts to delete
export const erasureCalls = 100; // of erasers, before the next job runs
export const erasureRecordDays = 90; // long enough to prove that it was done
export const erasureItems = 100; // that one call of our own eraser removes
export const adoptAttempts = 3; // of a user another program wrote, while others take the same address
export const adoptedTenants = 10_000; // remembered as looked through for such users
export const adoptPauseMs = 60_000; // before a tenant is looked through again
export const usersSearched = 1_000; // for admins: no index finds them by their role
export const adminsNotified = 20; // of a pending approval
