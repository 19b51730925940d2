// What waits, grows or can be guessed about organisations, and why it stops where it stops.

const day = 24 * 60 * 60;

export const invitationS = 7 * day; // a week of holidays; another one is sent with a click
export const invitationsPending = 200; // of one organisation: one page, and no way to send mail to the world
export const organisationsPerPerson = 100; // one page of a switcher
export const ownedPerPerson = 10; // that somebody makes: each has what a plan gives for nothing
export const tokenChars = 160; // two ids and 43 characters
