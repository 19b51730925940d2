// Fields whose names the Iceberg REST catalog fixes.

export const icebergFieldTexts: Readonly<Record<string, string>> = {
  bucket: 'The part of the lake that holds the file.',
  config: 'Settings for readers of the table.',
  defaults: 'Settings that a reader may override.',
  endpoints: 'The operations that this catalog has.',
  identifiers: 'The tables of the namespace.',
  metadata: 'The metadata of the table, as Iceberg defines it.',
  'metadata-location': 'The file that the metadata is read from.',
  namespace: 'The namespace of the table.',
  namespaces: 'The namespaces of the catalog.',
  'next-page-token': 'Send it as `pageToken` to read the next page; absent on the last one.',
  overrides: 'Settings that a reader has to use.',
  pageSize: 'How many items the page has at most.',
  pageToken: 'The token of the page, from the one before.',
  parent: 'The namespace to look in.',
  properties: 'Properties of the namespace.',
  snapshots: 'Which snapshots to return: `all`, or `refs` for the current ones.',
  warehouse: 'The warehouse; there is one only.',
};
