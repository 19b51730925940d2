import { requestIdChars } from '../limits.ts';

const shape = new RegExp(`^[A-Za-z0-9][A-Za-z0-9._:-]{7,${requestIdChars - 1}}$`);

// A caller's id connects its logs with ours. An id that could break a log line, or is empty, is replaced.
export const isRequestId = (text: string | undefined): text is string =>
  text !== undefined && shape.test(text);
