// Everything in accounts that grows, waits or can be guessed, and why it stops where it stops.

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;

export const emailChars = 254; // what SMTP can deliver to (RFC 5321, 4.5.3.1.3 less the brackets)
export const nameChars = 100;
export const passwordCharsLeast = 10; // above NIST's 8, because a second factor is not required
export const passwordDistinct = 5; // different characters: fewer are a pattern
export const passwordOwnChars = 5; // besides what everybody knows and what stands in a row on the keyboard
export const passwordCharsMost = 256; // a long passphrase; more would be work for the hash, not for a thief
export const settleAttempts = 5; // of a change that meets another one of the same account
export const userAgentChars = 256; // for recognising a session in a list; browsers send about 120

export const scryptLogN = 17; // OWASP: N=2^17, r=8, p=1, which takes 128 MB and about a third of a second
export const scryptLogNMost = 20; // of a stored hash: more would let one doctored item take a gigabyte
export const hashesAtOnce = 2; // 256 MB at most; libuv has four threads and files need some, too
export const hashesWaiting = 40; // about seven seconds of queue; later callers get a 503

export const accessTokenS = 15 * minute; // how long a stolen one lasts where nobody can ask about its session
export const refreshIdleS = 30 * day; // a session nobody used for a month is over
export const sessionS = 90 * day; // however busy it is, a person signs in once a quarter
export const refreshGraceMs = 10_000; // for an answer that got lost and for tabs that refresh together
export const freshSessionMs = 10 * 60_000; // what someone without a password shows instead: a recent sign-in
export const endingRounds = 50; // of ending all sessions while a thief makes others: each round ends what it finds
export const sessionsPerUser = 50; // the oldest makes room; nobody has more devices
export const apiKeysPerUser = 100; // one list page; nobody keeps track of more

export const recoveryCodes = 10; // as others give; a person keeps them on a sheet of paper
export const codeChars = 20; // six digits or a recovery code, with spaces
export const passkeysPerUser = 20; // one for each device and some security keys; all go in one transaction
export const challengeS = 5 * minute; // for finding a phone or a security key; browsers suggest up to ten
export const challengesPerMinute = 30; // from one address: each writes an item, and a person needs one
export const passkeyBytes = 16 * 1024; // of an answer: attestations are not asked for, so a few hundred are usual
export const keyTenants = 50; // of a key that is limited to some tenants; more would hardly be a limit
export const keyAddresses = 20;
export const keyListedS = 30 * day; // how long a key is listed after it has expired
export const deviceS = 180 * day; // a device that was not used so long is new again
export const devicesKnown = 100; // one page; nobody has more

export const endUserTokenS = hour; // unless the tenant asks for another time
export const endUserTokenMostS = day; // these are revoked by tenant only, so they must end by themselves
export const endUserIdChars = 256; // a tenant's own ids: UUIDs, e-mail addresses, URNs
export const endUserScopeChars = 500; // every scope there is fits several times

export const creationS = 60 * minute; // longer than anybody takes to create something, or an index to show it
export const signingKeyS = 30 * day; // how long one key signs
export const signingMarginS = 10 * minute; // how long a process may not have noticed that a key was replaced
export const signingReloadMs = 60_000; // how old a process's list of keys may be
export const unknownKeyReloadMs = 1_000; // a stranger's invented key ids cost one read a second, not one each

export const authCacheMs = 1_000; // how long another process may accept what this one revoked; here it is at once
export const verifiedTokens = 10_000; // about 5 MB; the least recently used is verified again
export const lastUsedMs = 60_000; // `lastUsedAt` is written at most this often

export const attemptWindowS = 15 * minute;
export const attemptsPerAccount = 20; // a window; 2,000 guesses a day get nowhere in ten random characters
export const knownNetworkS = 30 * day; // an owner who was there within a month is not kept out by strangers
export const attemptsPerAddress = 60; // a window; an office behind one address mistypes less than this
export const signUpWindowS = hour;
export const signUpsPerAddress = 20; // a window; also what slows down asking which e-mails are taken

export const auditS = 365 * day; // a year, as auditors ask for
export const auditsTogether = 4; // handed on as events at the same time
export const auditDetailChars = 500;
export const auditPages = 20; // read for one page of a filtered trail, before it is returned short
export const usageShards = 8; // of a busy account: many processes add at once, and one item takes a thousand writes a second
export const usageMonthsS = 400 * day; // a year of months, for comparison
export const backgroundJobs = 200; // writes nobody waits for; past this they are dropped, and it is logged

export const savedNameChars = 80; // of a saved view or query: fits a menu, and a sort key however it is written
export const savedTextChars = 20_000; // as long as a query of the lake may be
export const saveAttempts = 20; // of one that meets others of the same organisation
export const savedMost = 100; // of each kind in an organisation; more than anybody looks through in a menu

export const deletionGraceMs = 60_000; // longer than a request may run: those admitted before have ended by then
export const deletionPollMs = 30_000; // how soon a deletion goes on when its time has come
export const leftAtOnce = 20; // organisations that somebody leaves in the transaction that deletes them: two steps each, of 100
export const erasedAtOnce = 100; // items held in memory while a long trail goes
export const deletionSteps = 10_000; // rounds of one deletion in one go before the others get a turn

export const oauthStateS = 10 * minute; // from leaving for the provider to coming back
export const stripeEventS = 40 * day; // Stripe retries for three days and lets one resend for thirty
