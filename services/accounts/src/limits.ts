// Limits of accounts, with the reason for each.

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;

export const emailChars = 254; // what SMTP can deliver to (RFC 5321, 4.5.3.1.3 less the brackets)
export const nameChars = 100;
export const passwordCharsLeast = 10; // above NIST's 8, because a second factor is not required
export const passwordDistinct = 5; // distinct characters: fewer are a pattern
export const passwordOwnChars = 5; // besides common words and runs on the keyboard
export const passwordCharsMost = 256; // a long passphrase; more would cost hashing time without adding safety
export const settleAttempts = 5; // of a change that conflicts with another one of the same account
export const userAgentChars = 256; // for recognising a session in a list; browsers send about 120

export const scryptLogN = 17; // OWASP: N=2^17, r=8, p=1, which takes 128 MB and about a third of a second
export const scryptLogNMost = 20; // of a stored hash: more would let one manipulated item take a gigabyte
export const hashesAtOnce = 2; // 256 MB at most; libuv has four threads, and files need some too
export const hashesWaiting = 40; // about seven seconds of queue; later callers get a 503

export const accessTokenS = 15 * minute; // how long a stolen one works where its session cannot be checked
export const refreshIdleS = 30 * day; // a session unused for a month ends
export const sessionS = 90 * day; // however busy it is, a person signs in once a quarter
export const refreshGraceMs = 60_000; // for tabs that refresh together, and for a lost response: each try may wait ten seconds for the store
export const freshSessionMs = 10 * 60_000; // people without a password prove themselves by a recent sign-in instead
export const endingRounds = 50; // of ending all sessions while a thief opens new ones: each round ends what it finds
export const sessionsPerUser = 50; // the oldest is ended to make room; nobody has more devices
export const apiKeysPerUser = 100; // one list page; nobody keeps track of more

export const recoveryCodes = 10; // as other services give; people print them
export const codeChars = 20; // six digits or a recovery code, with spaces
export const passkeysPerUser = 20; // one for each device and some security keys; all go in one transaction
export const challengeS = 5 * minute; // for finding a phone or a security key; browsers suggest up to ten
export const challengesPerMinute = 30; // from one address: each writes an item, and a person needs one
export const passkeyBytes = 16 * 1024; // of a response: attestations are not requested, so a few hundred are usual
export const keyTenants = 50; // of a key that is limited to some tenants; more would hardly be a limit
export const keyAddresses = 20;
export const keyListedS = 30 * day; // how long a key is listed after it has expired
export const deviceS = 180 * day; // a device unused for this long counts as new
export const devicesKnown = 100; // one page; nobody has more

export const endUserTokenS = hour; // unless the tenant requests another lifetime
export const endUserTokenMostS = day; // only a tenant as a whole can be revoked, so tokens must expire soon
export const endUserIdChars = 256; // a tenant's own ids: UUIDs, e-mail addresses, URNs
export const endUserScopeChars = 500; // all existing scopes fit several times

export const creationS = 60 * minute; // longer than creating something takes, or than an index is behind
export const signingKeyS = 30 * day; // how long one key signs
export const signingMarginS = 10 * minute; // how long a process may miss that a key was replaced
export const signingReloadMs = 60_000; // how old a process's list of keys may be
export const unknownKeyReloadMs = 1_000; // invented key ids cost one read a second, not one each

export const authCacheMs = 1_000; // how long another process may accept what this one revoked; here it ends at once
export const verifiedTokens = 10_000; // about 5 MB; the least recently used is verified again
export const lastUsedMs = 60_000; // `lastUsedAt` is written at most this often

export const attemptWindowS = 15 * minute;
export const attemptsPerAccount = 20; // per window; 2,000 guesses a day get nowhere with ten random characters
export const knownNetworkS = 30 * day; // owners who signed in from there within a month are not locked out by strangers
export const attemptsPerAddress = 60; // per window; an office behind one address mistypes less than this
export const signUpWindowS = hour;
export const signUpsPerAddress = 20; // per window; also limits probing for registered addresses

export const auditS = 365 * day; // a year, as auditors expect
export const auditsTogether = 4; // sent as events at the same time
export const auditDetailChars = 500;
export const auditPages = 20; // read for one page of a filtered trail before it is returned short
export const usageShards = 8; // of a busy account: many processes add at once, and an item takes 1,000 writes a second
export const usageMonthsS = 400 * day; // a year of months, for comparison
export const backgroundJobs = 200; // background writes; beyond this they are dropped and logged

export const savedNameChars = 80; // of a saved view or query: fits a menu, and a sort key in any encoding
export const savedTextChars = 20_000; // as long as a lake query may be
export const saveAttempts = 20; // of one that conflicts with others in the same organisation
export const savedMost = 100; // of each kind in an organisation; nobody looks through more in a menu

export const deletionGraceMs = 60_000; // longer than a request may run: those admitted earlier have ended by then
export const deletionPollMs = 30_000; // how soon a due deletion continues
export const leftAtOnce = 20; // organisations left in the transaction that deletes a person: two steps each, of 100
export const erasedAtOnce = 100; // items held in memory while a long trail is deleted
export const deletionSteps = 10_000; // rounds of one deletion before the next one is served

export const oauthStateS = 10 * minute; // from leaving for the provider to returning
export const stripeEventS = 40 * day; // Stripe retries for three days and allows resending for thirty
