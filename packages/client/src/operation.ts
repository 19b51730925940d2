/** How a call becomes a request. Arguments that are neither in the path nor headers go into the query. */
export type Operation = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly body?: 'json' | 'raw';
  readonly headers?: readonly string[];
  readonly isKeyed?: true; // takes an Idempotency-Key
  readonly isStream?: true; // responds with events
  readonly isPublic?: true; // needs no token, and gets none
};
/** The operations of an API by their ids. */
export type Operations = Readonly<Record<string, Operation>>;

// The types of an operation, for the compiler only.
type OperationTypes = {
  args: object;
  data?: unknown;
  event?: unknown; // of a stream, instead of data
  mustMatch?: true; // refused without `ifMatch`
};

/** The data of a response, with its status and headers. */
export type Answer<Data> = {
  data: Data;
  status: number;
  etag: string | undefined; // send it as `ifMatch` with the change
  request_id: string;
  isReplayed: boolean; // the response of an earlier request with the same key
  headers: Headers;
};

/** Options of a single call, such as a signal, an idempotency key or an ETag. */
export type CallOptions = {
  signal?: AbortSignal;
  ifMatch?: string;
  idempotencyKey?: string; // generated for each call that takes one
  headers?: Readonly<Record<string, string>>;
  timeoutMs?: number; // for each attempt
  retries?: number; // after the first attempt
};

/** Options of a stream: a signal, and the id of the last event that was received. */
export type StreamOptions = { signal?: AbortSignal; lastEventId?: string };

/** An event of a stream. */
export type ServerEvent<Data = unknown> = { id: string | undefined; event: string; data: Data };

type OptionsOf<O> = O extends { mustMatch: true }
  ? [options: CallOptions & { ifMatch: string }]
  : [options?: CallOptions];
type ArgsOf<O extends OperationTypes, Options extends unknown[]> =
  Record<never, never> extends O['args']
    ? Options extends [unknown]
      ? [args: O['args'], ...options: Options]
      : [args?: O['args'], ...options: Options]
    : [args: O['args'], ...options: Options];

/** A method of the client, with the types of its operation. */
export type Call<O extends OperationTypes> = O extends { event: infer Event }
  ? (...given: ArgsOf<O, [options?: StreamOptions]>) => AsyncGenerator<ServerEvent<Event>, void, undefined>
  : (...given: ArgsOf<O, OptionsOf<O>>) => Promise<Answer<O['data']>>;

type GroupOf<Id> = Id extends `${infer Group}.${string}` ? Group : never;
type NameIn<Group extends string, Id> = Id extends `${Group}.${infer Name}` ? Name : never;

/** A client with a method for each operation: `tenants.create` is `client.tenants.create`. */
export type ClientOf<Types> = {
  readonly [Group in GroupOf<keyof Types>]: {
    readonly [Id in keyof Types as NameIn<Group, Id>]: Call<Types[Id] & OperationTypes>;
  };
};
