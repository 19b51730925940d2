import type { StreamSource } from './source.ts';

/** The part of the embedded engine that a source needs. */
export type StreamingEngine = {
  execute(operation: string, input: unknown): Promise<object>;
  readStream(input: { ShardIterator: string; Limit?: number }): ReturnType<StreamSource['getRecords']>;
  waitForChange(target: string, signal?: AbortSignal, since?: number): Promise<void>;
  streamPosition(): number;
  streamSequence(): string;
};

/** The streams of an embedded engine, which wakes consumers at once. */
export function engineSource(engine: StreamingEngine): StreamSource {
  const as =
    <Input, Output>(operation: string) =>
    (input: Input) =>
      engine.execute(operation, input) as Promise<Output>;
  return {
    listStreams: as('ListStreams'),
    describeStream: as('DescribeStream'),
    getShardIterator: as('GetShardIterator'),
    getRecords: input => engine.readStream(input),
    waitForChange: (streamArn, signal, since) => engine.waitForChange(streamArn, signal, since),
    position: () => engine.streamPosition(),
    newest: () => engine.streamSequence(),
    isExact: true,
  };
}
