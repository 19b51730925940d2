// A mistake of the person at the keyboard: told in one line, without a stack.
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

const explanations = new Map<string, (error: NodeJS.ErrnoException & { port?: number }) => string>([
  ['EADDRINUSE', error => `port ${error.port} is already in use; choose another with --port`],
  ['EADDRNOTAVAIL', () => 'this machine does not have the address given with --host'],
  ['ENOTFOUND', () => 'the name given with --host is unknown'],
  ['EACCES', error => `permission denied: ${error.path ?? `port ${error.port}`}`],
  ['ENOSPC', () => 'the disk is full'],
]);

// What a server refused, in its own words, field by field.
type Refusal = Error & {
  code: string;
  detail: string;
  errors: readonly { pointer: string; detail: string }[];
};

const isRefusal = (error: Error): error is Refusal => error.name === 'StakError' && 'detail' in error;

const describeRefusal = ({ code, detail, errors }: Refusal): string =>
  [`${detail} (${code})`, ...errors.map(field => `${field.pointer}: ${field.detail}`)].join('; ');

export function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (isRefusal(error)) return describeRefusal(error);
  const explanation = explanations.get((error as NodeJS.ErrnoException).code ?? '');
  return (explanation?.(error) ?? error.message).replaceAll(/\s*\n\s*/g, ' ');
}
