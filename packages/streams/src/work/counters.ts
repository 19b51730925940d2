/** Counts the work of a consumer since it was created, for `/metrics`. */
export type Counters = {
  records: number;
  pages: number;
  retries: number;
  deadLetters: number;
  redriven: number;
  alarms: number;
  expiredIterators: number;
  leasesLost: number;
  failures: number;
};

export const createCounters = (): Counters => ({
  records: 0,
  pages: 0,
  retries: 0,
  deadLetters: 0,
  redriven: 0,
  alarms: 0,
  expiredIterators: 0,
  leasesLost: 0,
  failures: 0,
});
