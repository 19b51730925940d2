import type { Context } from '../context.ts';

type ArnScope = Pick<Context, 'region' | 'accountId'>;

export const tableArn = ({ region, accountId }: ArnScope, tableName: string): string =>
  `arn:aws:dynamodb:${region}:${accountId}:table/${tableName}`;

export const indexArn = (owner: ArnScope, tableName: string, indexName: string): string =>
  `${tableArn(owner, tableName)}/index/${indexName}`;

export const streamArn = (owner: ArnScope, tableName: string, label: string): string =>
  `${tableArn(owner, tableName)}/stream/${label}`;

const resourcePattern = /^arn:[^:]+:dynamodb:[^:]*:(\d*):table\/([^/]+)(?:\/stream\/(.+))?$/;

export type Resource = { accountId: string; tableName: string; streamLabel?: string };

export function parseArn(arn: string): Resource | undefined {
  const match = resourcePattern.exec(arn);
  return match ? { accountId: match[1]!, tableName: match[2]!, streamLabel: match[3] } : undefined;
}
