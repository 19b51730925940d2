import { write } from '@stak/table';
import type { RunSettings } from './run.ts';
import type { Start } from './shard-reader.ts';
import { listShards } from './shards.ts';
