// What a sender may put into the headers that prove who it is.

export const toleranceS = 300; // Stripe's, Slack's and Standard Webhooks' own figure
export const toleranceMostS = 86_400; // a wider window is none
export const signatureChars = 4_096; // a header with a dozen signatures; every one of them costs a comparison
export const signatures = 16;
export const dedupeIdChars = 255; // a longer one is kept as its hash
export const challengeChars = 1_024; // what is echoed to whoever asks
export const secretChars = 1_024;
