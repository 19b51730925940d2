import type { Random } from '@stak/kit';
import type { StreamRecord, StreamSource } from '../src/index.ts';

export type StreamFaults = {
  repeated?: number; // records that were read come once more, before the next ones
  doubled?: number; // the records of a page come twice in it
  late?: number; // nothing yet, though there is something
  expired?: number; // the iterator has to be made again
  throttled?: number; // others read the shard as well
  failed?: number;
};

export const passingStreamFaults = {
  repeated: 0.1,
  doubled: 0.1,
  late: 0.1,
  expired: 0.05,
  throttled: 0.05,
  failed: 0.02,
} as const satisfies StreamFaults;

const named = (name: string) => Object.assign(new Error(name), { name });

// A source that misbehaves as DynamoDB Streams may, in an order that follows from the random numbers.
export function createStreamAdversary<S extends StreamSource>(
  source: S,
  { random, ...faults }: StreamFaults & { random: Random },
): S & { calls(): number } {
  const read = new Map<string, StreamRecord[]>(); // by the iterator that goes on after them
  let calls = 0;
  const happens = (fault: keyof StreamFaults): boolean => {
    const share = faults[fault] ?? 0;
    return share > 0 && random() < share;
  };
  const refuse = () => {
    if (happens('throttled')) throw named('LimitExceededException');
    if (happens('failed')) throw named('InternalServerError');
  };
  return {
    ...source,
    isExact: false,
    calls: () => calls,
    async describeStream(input: Parameters<StreamSource['describeStream']>[0]) {
      refuse();
      return source.describeStream(input);
    },
    async getShardIterator(input: Parameters<StreamSource['getShardIterator']>[0]) {
      refuse();
      return source.getShardIterator(input);
    },
    async getRecords(input: Parameters<StreamSource['getRecords']>[0]) {
      calls += 1;
      refuse();
      if (happens('expired')) throw named('ExpiredIteratorException');
      if (happens('late')) return { Records: [], NextShardIterator: input.ShardIterator };
      const page = await source.getRecords(input);
      const before = read.get(input.ShardIterator) ?? [];
      const fresh = page.Records ?? [];
      const once = happens('repeated') ? [...before, ...fresh] : fresh;
      if (page.NextShardIterator) read.set(page.NextShardIterator, fresh.slice(-10));
      return { ...page, Records: happens('doubled') ? [...once, ...once] : once };
    },
  };
}
