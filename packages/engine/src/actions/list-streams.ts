import type { Context } from '../context.ts';
import { listAllStreams } from '../streams/stream-lookup.ts';
import { streamArn } from '../tables/arns.ts';
import { type ListStreamsInput, validateListStreams } from '../validation/streams.ts';

const streamsPerPage = 100;

export type ListStreamsOutput = {
  Streams: { StreamArn: string; TableName: string; StreamLabel: string }[];
  LastEvaluatedStreamArn?: string;
};

export function listStreams(context: Context, input: ListStreamsInput): ListStreamsOutput {
  validateListStreams(input);
  const { Limit: limit = streamsPerPage, ExclusiveStartStreamArn: start = '', TableName: name } = input;
  const streams = listAllStreams(context)
    .filter(({ tableName }) => !name || tableName === name)
    .map(({ tableName, stream }) => ({
      StreamArn: streamArn(context, tableName, stream.label),
      TableName: tableName,
      StreamLabel: stream.label,
    }))
    .filter(({ StreamArn }) => StreamArn > start)
    .sort((a, b) => (a.StreamArn < b.StreamArn ? -1 : 1));
  const page = streams.slice(0, limit);
  return {
    Streams: page,
    ...(streams.length > limit && { LastEvaluatedStreamArn: page.at(-1)!.StreamArn }),
  };
}
