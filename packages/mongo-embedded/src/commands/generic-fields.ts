/** Fields that drivers send with every command, which change nothing here. */
export const GENERIC_FIELDS = [
  'lsid',
  '$db',
  '$readPreference',
  '$clusterTime',
  'comment',
] as const;

/** Generic fields, those of the stable API and of sessions included. */
export const SESSION_FIELDS = [
  ...GENERIC_FIELDS,
  'apiVersion',
  'apiStrict',
  'apiDeprecationErrors',
  'txnNumber',
  'autocommit',
  'startTransaction',
] as const;
