import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Settings } from '../settings.ts';
import { startOverHttp } from './over-http.ts';

export const findDynamoDbLocal = (): string | undefined => process.env.DYNAMODB_LOCAL;

export function start(settings: Settings) {
  const jar = findDynamoDbLocal()!;
  mkdirSync(settings.folder);
  return startOverHttp(settings, port => ({
    command: 'java',
    args: [
      `-Djava.library.path=${join(dirname(jar), 'DynamoDBLocal_lib')}`,
      ...['-jar', jar, '-disableTelemetry', '-sharedDb', '-port', String(port), '-dbPath', settings.folder],
    ],
  }));
}
