// Limits of organisations, with the reason for each.

const day = 24 * 60 * 60;

export const invitationS = 7 * day; // covers a week of holidays; another one is a click away
export const invitationsPending = 200; // of one organisation: one page, and no tool for mass mail
export const tokenChars = 160; // two ids and 43 characters
