// Everything in this service that grows, waits or repeats, and why it stops where it stops.

export const conversationIdChars = 128; // a provider's chat and thread, or the host's own id
export const titleChars = 200;
export const contentChars = 32_000; // about 8,000 tokens: a long e-mail, not a book
export const messageBodyBytes = 256 * 1024; // the longest message in UTF-8 with every character escaped
export const importMessages = 1_000; // 500 turns, written in 13 transactions
export const importBodyBytes = 4 * 1024 * 1024; // a thousand messages of 4 KB
export const importedTurnBytes = 64 * 1024; // of messages by one side without a pause

export const ttlDays = 30; // after the last activity, as documented
export const headBytes = 32 * 1024; // of the documented item: it is rewritten with every turn
export const turnBytes = 300 * 1024; // below an item's 400 KB, with room for keys and figures
export const replyBytes = 96 * 1024; // of one answer, which JSON may double; longer ones are cut
export const windowTurns = 500; // read for one window; the setting may ask for 1,000 messages
export const windowTokens = 16_000; // unless the tenant says otherwise
export const windowTokensMost = 200_000; // no model reads more for one answer at a bearable price

export const waitingMessages = 20; // of one conversation; they are answered by one turn, in one transaction
export const burstBytes = 64 * 1024; // of messages that are answered together; the rest has the next turn
export const burstMs = 1_000; // how long a channel's message waits for the next one
export const leaseMs = 30_000; // a crash delays a conversation this long where nobody can tell that its process is gone
export const renewMs = 10_000; // a third of it: two renewals may fail
export const stallMs = 120_000; // for everything a turn does; a proxy hangs up after two minutes at most
export const turnAttempts = 3; // of a message nobody waits for; then it is dropped, and the user told
export const turnRetryMs = 15_000; // times the attempts so far
export const busyWaitMs = 25_000; // below the 30 s after which clients and proxies give up
export const busyRetryS = 2; // most turns are over by then
export const answerPollMs = 250; // for an answer that another process is making
export const receiptDays = 3; // providers repeat a webhook for up to a day
export const raceAttempts = 12; // each lost one is somebody else's success
export const raceMs = 40; // at most, before a lost race is run again
export const turnsTogether = 40; // in one transaction, which has 100 steps
export const turnBytesTogether = 2 * 1024 * 1024; // of its 4 MB; the documented item and receipts need room too

export const shards = 4; // partitions of the index of what is due
export const dueTogether = 20; // taken up in one look
export const duePollMs = 5_000; // for what another process left behind; our own rings a bell
export const workConcurrency = 8; // turns at a time; each may wait for a model
export const expiryGraceMs = 60 * 60_000; // the conversation is unreadable anyway; clocks differ
export const purgeTogether = 100;

export const usageDays = 400; // a year to compare with
export const microsPerUsd = 1_000_000;

export const skillMs = 10_000; // a skill that takes longer has failed; the user waits
export const skillOutputBytes = 16 * 1024; // goes into the model's next step, and into the log
export const skillCalls = 8; // in one turn
export const modelSteps = 5; // calls of the model in one turn
export const approvalHours = 24; // a working day later somebody has looked
export const approvalHoursMost = 7 * 24; // well before the conversation expires
export const approvalReasonChars = 500;
export const pausedPollMs = 5_000; // of a stream whose turn waits for an approval
export const mcpServers = 10; // of a tenant
export const mcpTools = 50; // of a server; a model is sent those that are enabled
export const mcpToolNameChars = 128;
export const mcpPages = 10; // of a server's list of tools
export const mcpBytes = 1024 * 1024; // of one answer: a list of tools with all their schemas
export const mcpListBytes = 200 * 1024; // of the list as it is kept, in one item
export const mcpListMs = 10_000; // somebody waits for the form to be saved
export const mcpListKeptMs = 60 * 60_000;
export const mcpCallMs = 30_000; // tools search, build and ask others
export const mcpHeaders = 10;
export const customSkills = 50; // of a tenant
export const skillNameChars = 64; // what providers take for a tool
export const skillDescriptionChars = 1_000; // sent to the model with every message
export const skillTriggers = 20;
export const triggerChars = 100;
export const schemaBytes = 8 * 1024; // sent to the model with every message
export const schemaParts = 500; // schemas within schemas, and values they list
export const schemaDepth = 10;
export const cachedTokens = 200; // of bots at Teams
export const searchedConversations = 20; // newest first
export const searchedTurns = 100; // of each
export const searchHits = 10;

export const modelMs = 60_000; // one attempt, from request to last token
export const modelStallMs = 20_000; // without a sign of life
export const modelAttempts = 2; // of each model, before the next one
export const modelBytes = 16 * 1024 * 1024; // of one response: a long answer in pieces of a word, each in its JSON
export const tokensTold = 10_000_000; // for one step; no model takes or gives that many, so it is a mistake
export const modelRetryMs = 1_000; // unless the provider says how long
export const modelRetryMostMs = 5_000; // somebody is waiting; longer means the next model
export const modelListMs = 5_000; // for a provider's list of models
export const modelListKeptMs = 10 * 60_000;
export const modelListRetryMs = 10_000; // a provider that could not be asked
export const modelsNamed = 20; // in an error that says what there is
export const modelTestTokens = 200; // of an answer that only shows that the model works
export const eventsTogether = 50; // in one message to another process
export const followedElsewhere = 10_000; // answers that other processes follow
export const eventsKept = 20_000; // of one running turn, for clients that reconnect

export const factChars = 500;
export const factsPerItem = 50;
export const summaryChars = 4_000;
export const memorySessions = 100; // of a user; past that the one that has been quiet the longest goes
export const memoryBytes = 8 * 1024; // of facts in a turn: about 2,000 tokens that are paid for at every step

export const quietMs = 10 * 60_000; // a conversation nobody has added to for this long is summarised
export const memoryLanes = 4; // partitions of the index of conversations to be summarised
export const memoryPollMs = 30_000; // for what another process left behind
export const memoryLeaseMs = 180_000; // longer than a turn may take; a crash delays a summary this long
export const memoryRetryMs = 60_000; // times the attempts so far
export const memoryAttempts = 3; // to have a model summarise; then the user's own words are the summary
export const memoryConcurrency = 2; // nobody waits for a summary
export const summarizedTurns = 500; // of one job
export const summarizedBytes = 48 * 1024; // of what was said, newest first: about 12,000 tokens
export const summarizedChars = 2_000; // of one message
export const summaryTokens = 1_500; // of the model's answer: two summaries and some facts
export const newFacts = 10; // of one job
export const excerptChars = 200; // of a message in a summary that no model made
export const extractChars = 1_000; // of such a summary

export const webhookBytes = 256 * 1024; // a provider's event has a few KB
export const webhooksPerMinute = 3_000; // of one channel
export const messagesPerWebhook = 1_000; // the most that WhatsApp puts into one
export const signatureToleranceS = 300; // what Slack asks for, both ways
export const credentialChars = 4_096;
export const noticeDays = 30; // before an unknown sender is notified again
export const replyMs = 10_000; // for one call of a channel's API
export const replyAttempts = 5;
export const replyRetryMs = 10_000; // doubled each time
export const channelTextChars = { slack: 12_000, teams: 12_000, telegram: 4_096, whatsapp: 4_096 } as const; // theirs, or what reads well
export const openIdMs = 60 * 60_000; // how long a provider's signing keys are believed
export const tokenEarlyMs = 60_000; // an access token is renewed this long before it ends
export const erasedTogether = 10; // conversations that one call of the eraser deletes

export const answerBytes = 4000; // of an answer and what is kept with it: what an account is asked to have room for
