/**
 * An error that a client sees: MongoDB's number and name, a message, and fields that some errors
 * add.
 */
export class ServerError extends Error {
  constructor(
    readonly code: number,
    message: string,
    readonly extra: Readonly<Record<string, unknown>> = {},
  ) {
    super(message);
    this.name = 'ServerError';
  }
  get codeName(): string {
    return codeNames[this.code] ?? `Location${this.code}`;
  }
}

const codeNames: Record<number, string> = {
  1: 'InternalError',
  2: 'BadValue',
  9: 'FailedToParse',
  11: 'UserNotFound',
  13: 'Unauthorized',
  14: 'TypeMismatch',
  15: 'Overflow',
  16: 'InvalidLength',
  17: 'ProtocolError',
  18: 'AuthenticationFailed',
  20: 'IllegalOperation',
  5: 'GraphContainsCycle',
  26: 'NamespaceNotFound',
  76: 'NoReplicationEnabled',
  27: 'IndexNotFound',
  28: 'PathNotViable',
  34: 'CannotBackfillArray',
  40: 'ConflictingUpdateOperators',
  43: 'CursorNotFound',
  48: 'NamespaceExists',
  50: 'MaxTimeMSExpired',
  52: 'DollarPrefixedFieldName',
  53: 'InvalidIdField',
  56: 'EmptyFieldName',
  57: 'DottedFieldName',
  59: 'CommandNotFound',
  66: 'ImmutableField',
  67: 'CannotCreateIndex',
  68: 'IndexAlreadyExists',
  72: 'InvalidOptions',
  73: 'InvalidNamespace',
  85: 'IndexOptionsConflict',
  86: 'IndexKeySpecsConflict',
  115: 'CommandNotSupported',
  121: 'DocumentValidationFailure',
  146: 'ExceededMemoryLimit',
  165: 'ViewDepthLimitExceeded',
  166: 'CommandNotSupportedOnView',
  167: 'OptionNotSupportedOnView',
  168: 'InvalidPipelineOperator',
  197: 'InvalidIndexSpecificationOption',
  207: 'InvalidUUID',
  238: 'NotImplemented',
  241: 'ConversionFailure',
  263: 'OperationNotSupportedInTransaction',
  292: 'QueryExceededMemoryLimitNoDiskUseAllowed',
  309: 'ChangeStreamNotEnabled',
  10334: 'BSONObjectTooLarge',
  11000: 'DuplicateKey',
  11600: 'InterruptedAtShutdown',
  11601: 'Interrupted',
  17419: 'Location17419',
};

/** Something MongoDB has and this server has not (or not exactly): refused, never approximated. */
export function unsupported(what: string, code = 238): ServerError {
  return new ServerError(
    code,
    `${what} is not supported by the embedded server; a MongoDB server is needed for it`,
  );
}

export const badValue = (message: string): ServerError => new ServerError(2, message);
export const failedToParse = (message: string): ServerError => new ServerError(9, message);
export const typeMismatch = (message: string): ServerError => new ServerError(14, message);
