/** A time in a request, in milliseconds since the epoch. On the wire it is in seconds. */
export const millisecondsOf = (time: number | Date): number =>
  typeof time === 'number' ? Math.round(time * 1000) : time.getTime();
