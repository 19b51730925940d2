// Implemented by each service that stores data of tenants, users or accounts. Only the functions that apply.
//
// One call does a limited amount of work, and can be repeated at any time: after a crash, concurrently, or when nothing
// is left. It returns whether there is more to do.
export type Erased = 'done' | 'more';
export type ExportedItem = { kind: string; item: unknown };

export type Eraser = {
  readonly name: string; // must not change: jobs in progress refer to it
  eraseUser?(tenantId: string, userId: string): Promise<Erased>;
  eraseTenant?(tenantId: string): Promise<Erased>;
  eraseAccount?(accountId: string): Promise<Erased>;
  exportUser?(tenantId: string, userId: string): AsyncIterable<ExportedItem>;
};
