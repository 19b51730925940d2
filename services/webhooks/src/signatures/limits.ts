// Limits of the headers that hold signatures.

export const toleranceS = 300; // Stripe's, Slack's and Standard Webhooks' own figure
export const toleranceMostS = 86_400; // a wider window would be pointless
export const signatureChars = 4_096; // a header with a dozen signatures; every one of them costs a comparison
export const signatures = 16;
export const formFields = 1_000; // of a signed form: Twilio sends some dozens
export const dedupeIdChars = 255; // a longer one is hashed
export const challengeChars = 1_024; // it is echoed to anyone who asks
export const secretChars = 1_024;
