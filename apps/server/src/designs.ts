import { ferryhookMain } from '@stak/accounts';
import { httpTable } from '@stak/http/table';
import { streamsTable } from '@stak/streams';
import type { AnyTable } from '@stak/table';
import { tenantsTable } from '@stak/tenants';

// The tables of every service that is part of Stak, for `stak tables`. A service adds its designs here.
export const designs: readonly AnyTable[] = [ferryhookMain, tenantsTable, httpTable, streamsTable];
