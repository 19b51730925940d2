// Everything in webhooks that grows, waits or repeats, and why it stops where it stops.

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

export const bodyBytes = 256 * 1024; // the document's limit; a plan may allow less, never more
export const bodyPartBytes = 128 * 1024; // two parts hold the largest body, each far below DynamoDB's 400 KB
export const headerPairs = 100; // a request with more is no webhook; Node itself stops at 2,000
export const headersBytes = 16 * 1024; // what Node takes as a whole, so a stored event never outgrows its item
export const queryChars = 4096; // signatures and verify tokens fit several times over
export const dedupeIdChars = 256; // GitHub's and Stripe's ids have about 40; a longer one is hashed
export const dedupeS = 3 * 24 * 60 * 60; // Stripe, the most patient provider, tries again for three days

export const nameChars = 100;
export const urlChars = 2048; // what every proxy and server on the way accepts
export const secretChars = 512;
export const rotationMs = 24 * hour; // how long a replaced secret still signs, for receivers that deploy daily
export const sourcesPerUser = 200; // a list that a person can still read
export const connectionsPerSource = 40; // an event and all it owes must fit one transaction of 100 steps
export const retiredS = 100 * 24 * 60 * 60; // a deleted source stays readable for its events: 90 days, and some

export const eventShards = 4; // team's 167 events a second are 700 write units: a quarter of it leaves room
export const dueShards = 8; // 8,000 deliveries a second can become due before one partition is hot
export const counterShards = 4; // processes that flush into the same item in the same second

export const configMs = 1 * second; // how long another process may not have noticed a change of configuration
export const catchUpMs = [3 * second, 15 * second]; // after a change of a connection; the second for slow writers
export const clockSkewMs = 1 * second; // by which clocks of processes may differ
export const configEntries = 10_000; // about 50 MB of sources with their connections
export const planMs = 5 * second; // a new plan counts within seconds; usage is added up here meanwhile
export const requestsPerSource = 300_000; // a minute, good or bad: more than a core takes, so plans come first
export const rateWindowMs = minute; // plans count events a minute

export const attempts = 8; // the document's
export const retryDelaysMs = [
  0,
  30 * second,
  2 * minute,
  15 * minute,
  1 * hour,
  4 * hour,
  12 * hour,
  24 * hour,
]; // the document's
export const retryJitter = 0.2; // retries that fell due together spread over a fifth of their delay
export const retryDelayMostMs = 24 * hour; // of a connection's own schedule
export const retryAfterMostMs = 1 * hour; // a destination may slow us down, not park a delivery for a year

export const timeoutMs = 10 * second; // for one exchange with a destination
export const leaseMs = 45 * second; // transform, exchange and the writing of its result, with room to spare
export const leaseSpareMs = 20 * second; // what must be left of a lease before an exchange begins
export const busyMs = 2 * second; // until a connection's scripts, of which too many were waiting, are tried again
export const owedSpareS = 12 * 60 * 60; // kept longer than its next attempt: workers may be down for a night
export const heldS = 7 * 24 * 60 * 60; // for what waits for its connection: time to notice, and to mend
export const responseChars = 1000; // the document's
export const errorChars = 500;
export const drainMs = 8 * second; // container runtimes kill after ten

export const quickSlots = 512; // exchanges that are expected to be short
export const newcomerSlots = 384; // of these, for connections nobody knows yet: the known ones keep the rest
export const slowSlots = 1024; // exchanges with destinations known to be slow; a socket and a body each
export const slowMs = 500; // an exchange that lasts longer makes room for quick ones
export const concurrency = 16; // for one connection, unless it says otherwise
export const concurrencyMost = 100;
export const readyPerConnection = 1000; // what waits in memory for one connection; the rest waits in its backlog
export const readyMost = 20_000; // for all of them: references of about 200 bytes
export const latencyWeight = 0.3; // of the newest exchange in the running average
export const trackedConnections = 20_000; // whose speed is remembered; the least recently used is new again

export const scanMs = 1 * second; // how often the due index is looked at when nobody rings
export const scanItems = 200; // of one shard at a time, so that no shard holds up the others
export const rescanMs = 250; // while there is more due than fits into memory
export const soonMs = 30 * second; // within which a quick connection gets to what it has too much of
export const takeoverPages = 50; // of one shard, when a process has died: what is behind becomes due with its lease
export const scanPages = 3; // of one shard, when the first ones hold nothing that can be started

export const lineItems = 10; // the first of a line, and who may stand behind it
export const lineWaitMs = 15 * minute; // how long one in line sleeps if nobody calls it

export const breakerFailures = 10; // in a row
export const breakerFirstMs = 1 * minute; // until the first probe
export const breakerMostMs = 15 * minute; // a destination that comes back is noticed within this
export const laneIdleMs = 15 * second; // an empty backlog is looked at once more: its index may lag
export const laneArmedMs = 5 * second; // how long a process trusts that a backlog has somebody who releases it
export const laneBatch = 100; // released at a time
export const lanePauseMs = 1 * second; // between batches for a connection that is slow
export const laneStepMs = 20; // between batches for one that keeps up

export const ratePerSecondMost = 1000;
export const backgroundRuns = { backlog: 32, job: 16 }; // looked after at a time; a job may last for hours

export const flushMs = 1 * second; // how much of attempts and latencies a crash may lose; how far counts are behind
export const countedRecords = 1000; // of the stream at a time: DynamoDB's own limit
export const countsTogether = 80; // counters of one transaction, which takes 100
export const countMarkS = 7 * 24 * 60 * 60; // a shard of a stream is gone after a day
export const counterDaysS = 400 * 24 * 60 * 60; // a year of days, for comparison
export const analyticsDays = 92; // a quarter; nobody reads a longer table
export const topSources = 10;

export const listItems = 100; // one page
export const searchEvents = 500; // events one search looks into before it answers with what it has
export const searchBytes = 8 * 1024 * 1024; // of bodies one search reads, for the same reason
export const searchChars = 200;
export const replayEvents = 100; // named one by one in one request
export const jobBatch = 25; // events between two checkpoints of a job
export const jobS = 30 * 24 * 60 * 60; // a finished job is listed for a month
export const catchUpS = 24 * 60 * 60; // a look back that was made is of no interest to anybody
export const jobsListed = 100; // the newest
export const jobsPerUser = 10; // under way at a time
export const jobAttempts = 20; // a job that cannot go on is given up rather than tried for ever

export const tailItems = 200; // of one shard at a time; a live view that is further behind catches up in steps
export const tailPollMs = 2 * second; // how late an event of another process may appear in a live view
export const tailOverlapMs = 5 * second; // how long a write may take to appear after its own time stamp

export const alertS = 30 * 24 * 60 * 60;
export const alertTimeoutMs = 5 * second; // for a POST of an alert: others wait for it, too
export const alertsTogether = 100; // under way: an address that hangs must not hold up everybody's
export const eraseEvents = 100; // of one step, each with its deliveries, attempts and payload
export const eraseGraceMs = 5 * second; // longer than another process may believe in a source that is gone

export const eventBytes = 1500; // of an event besides its body, with its headers: what its account is asked to have room for
export const deliveryBytes = 1000; // of a delivery and its first attempts
export const secretsOpened = 1000; // kept in memory, for as many busy connections
