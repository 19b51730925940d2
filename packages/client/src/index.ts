import { createClientFor } from './client.ts';
import { type ApiTypes, operations } from './generated.ts';
import type { ClientOf } from './operation.ts';
import type { ClientSettings } from './settings.ts';

export { createClientFor } from './client.ts';
export { type FieldError, StakError } from './errors.ts';
export type * from './generated.ts';
export type {
  Answer,
  Call,
  CallOptions,
  ClientOf,
  Operation,
  Operations,
  ServerEvent,
  StreamOptions,
} from './operation.ts';
export { iterate } from './pages.ts';
export {
  type AgentMessage,
  emptyReply,
  growReply,
  newMessageKey,
  type Reply,
  streamReply,
} from './reply.ts';
export type { ClientSettings, Fetch } from './settings.ts';

/** A client of the Stak API. Created with `createClient`. */
export type Client = ClientOf<ApiTypes>;

/**
 * Creates a client of a Stak server, with a typed method for each operation of the API.
 *
 *     const client = createClient({ baseUrl: 'http://127.0.0.1:8787', token: key });
 *     const { data: tenant, etag } = await client.tenants.get({ tenant_id: 'acme' });
 */
export const createClient = (settings: ClientSettings): Client =>
  createClientFor<ApiTypes>(operations, settings);
