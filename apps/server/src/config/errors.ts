// A usage error, printed on one line without a stack.
export class UsageError extends Error {
  override readonly name: string = 'UsageError';
}

// A usage error that the help of the command explains.
export class FlagError extends UsageError {
  override readonly name = 'FlagError';
}

// Whether a call to the store failed because the table does not exist.
export const isMissing = (error: unknown): boolean =>
  error instanceof Error && error.name === 'ResourceNotFoundException';

const explanations = new Map<string, (error: NodeJS.ErrnoException & { port?: number }) => string>([
  ['EADDRINUSE', error => `port ${error.port} is already in use; choose another with --port`],
  ['EADDRNOTAVAIL', () => 'this machine does not have the address given with --host'],
  ['ENOTFOUND', () => 'the name given with --host is unknown'],
  ['EACCES', error => `permission denied: ${error.path ?? `port ${error.port}`}`],
  ['ENOSPC', () => 'the disk is full'],
]);

// The error of a server, field by field.
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

// The next step for the user of a command. The server does not know that the caller is the CLI.
const nextSteps = new Map([
  ['client.unreachable', 'is it running? start one with stak start, or name another with --url or STAK_URL'],
  ['http.unauthenticated', 'sign in with stak login, or set STAK_TOKEN to an API key that is still there'],
  ['http.scope_missing', 'make a key that may, with stak keys create --scope admin'],
  ['accounts.credentials_wrong', 'who has no account yet makes one with stak login --signup'],
  ['accounts.refresh_refused', 'sign in again with stak login'],
  ['accounts.email_taken', 'sign in without --signup'],
  ['tenants.not_found', 'see stak tenants list'],
  ['inbox.not_found', 'see stak inbox list --tenant'],
]);

export function explainTo(command: string | undefined, error: unknown): string {
  if (!(error instanceof Error)) return explain(error);
  const isUsage = error.name === 'FlagError' || error.name === 'CACError';
  const help = isUsage && command !== undefined ? `see stak ${command} --help` : undefined;
  const next = isRefusal(error) ? nextSteps.get(error.code) : help;
  return next === undefined ? explain(error) : `${explain(error)}; ${next}`;
}
