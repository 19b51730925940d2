import { requestIdChars } from './limits.ts';

const shape = new RegExp(`^[A-Za-z0-9][A-Za-z0-9._:-]{7,${requestIdChars - 1}}$`);

// A caller's id joins its logs with ours. One that could break a log line or be mistaken for nothing is
// replaced.
export const isRequestId = (text: string | undefined): text is string =>
  text !== undefined && shape.test(text);
