import { streamsTable } from '@stak/streams';
import type { AnyTable } from '@stak/table';

// The tables of every service that is part of Stak, for `stak tables`. A service adds its designs here.
export const designs: readonly AnyTable[] = [streamsTable];
