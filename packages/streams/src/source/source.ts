import type { Attributes } from '@stak/table';
import type { SharedReads } from './shared-reads.ts';

// A source of records has the four operations of DynamoDB Streams, with their inputs and outputs. The embedded engine
// also wakes readers after a change; other sources are polled.

type AttributeValue =
  | { S: string }
  | { N: string }
  | { B: Uint8Array }
  | { BOOL: boolean }
  | { NULL: boolean }
  | { M: Image }
  | { L: AttributeValue[] }
  | { SS: string[] }
  | { NS: string[] }
  | { BS: Uint8Array[] };
export type Image = { [name: string]: AttributeValue };

// Only records of the embedded engine have this: values as the document client has them, and the sizes of images, which
// it knows without decoding them. Keys are shared by all readers; an image is decoded for each. A copy of such a record
// has neither keys nor images: they are getters.
export const embedded: unique symbol = Symbol.for('stak.embedded-record');
type Embedded = {
  keys(): Readonly<Attributes>;
  image(which: 'new' | 'old'): Attributes | undefined;
  json(which: 'new' | 'old'): string | undefined; // of an image that JSON can express
  bytes(which: 'new' | 'old'): number;
  stored(which: 'new' | 'old'): Uint8Array | undefined; // equal for equal images
};

/** A record of DynamoDB Streams. */
export type StreamRecord = {
  eventID?: string;
  eventName?: string;
  eventSourceARN?: string; // in a Lambda event only
  dynamodb?: {
    ApproximateCreationDateTime?: number | Date; // seconds; a Date from the SDK
    Keys?: Image;
    NewImage?: Image;
    OldImage?: Image;
    SequenceNumber?: string;
    SizeBytes?: number;
    readonly [embedded]?: Embedded;
  };
  // The Streams API spells these with capitals, a Lambda event without.
  userIdentity?: { Type?: string; PrincipalId?: string; type?: string; principalId?: string };
};

type ShardDescription = {
  ShardId?: string;
  ParentShardId?: string;
  SequenceNumberRange?: { StartingSequenceNumber?: string; EndingSequenceNumber?: string };
};

/** The operations of DynamoDB Streams. Created with `engineSource` or `awsSource`. */
export type StreamSource = {
  listStreams(input: { TableName?: string; ExclusiveStartStreamArn?: string }): Promise<{
    Streams?: { StreamArn?: string; StreamLabel?: string; TableName?: string }[];
    LastEvaluatedStreamArn?: string;
  }>;
  describeStream(input: { StreamArn: string; ExclusiveStartShardId?: string }): Promise<{
    StreamDescription?: { Shards?: ShardDescription[]; LastEvaluatedShardId?: string };
  }>;
  getShardIterator(input: {
    StreamArn: string;
    ShardId: string;
    ShardIteratorType: 'TRIM_HORIZON' | 'LATEST' | 'AT_SEQUENCE_NUMBER' | 'AFTER_SEQUENCE_NUMBER';
    SequenceNumber?: string;
  }): Promise<{ ShardIterator?: string }>;
  getRecords(input: {
    ShardIterator: string;
    Limit?: number;
  }): Promise<{ Records?: StreamRecord[]; NextShardIterator?: string | null }>;
  // Resolves when the stream has anything newer than `since`, a position taken before the last read.
  waitForChange?(streamArn: string, signal: AbortSignal, since: number | undefined): Promise<void>;
  position?(): number;
  // The sequence number of the newest record of any stream. Only the embedded engine has it.
  newest?(): string;
  // Every record comes once, and in order. DynamoDB may repeat records.
  readonly isExact?: boolean;
  // Shares the reads of a polled source among its consumers in this process.
  readonly shared?: SharedReads;
};

const named = (name: string) => (error: unknown) => error instanceof Error && error.name === name;

export const isExpiredIterator = named('ExpiredIteratorException');
export const isTrimmed = named('TrimmedDataAccessException');
export const isGone = named('ResourceNotFoundException');

/**
 * A source whose tables have a prefix in the store, and none here. Only tables have names in requests; everything else
 * uses ARNs.
 */
export const sourceWithPrefix = (source: StreamSource, prefix: string): StreamSource =>
  prefix === ''
    ? source
    : {
        ...source,
        listStreams: ({ TableName, ...input }) =>
          source.listStreams(TableName === undefined ? input : { ...input, TableName: prefix + TableName }),
      };
