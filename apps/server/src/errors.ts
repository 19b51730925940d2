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

export function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const explanation = explanations.get((error as NodeJS.ErrnoException).code ?? '');
  return (explanation?.(error) ?? error.message).replaceAll(/\s*\n\s*/g, ' ');
}
