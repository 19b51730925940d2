// What a service brings along that keeps data of tenants, users or accounts. Only those that apply.
//
// One call does a bounded amount of work, and can be made again at any time: after a crash, twice at once, or
// when nothing is left. It answers whether there is more to do.
export type Erased = 'done' | 'more';
export type ExportedItem = { kind: string; item: unknown };

export type Eraser = {
  readonly name: string; // stays the same: jobs that are under way know it
  eraseUser?(tenantId: string, userId: string): Promise<Erased>;
  eraseTenant?(tenantId: string): Promise<Erased>;
  eraseAccount?(accountId: string): Promise<Erased>;
  exportUser?(tenantId: string, userId: string): AsyncIterable<ExportedItem>;
};
