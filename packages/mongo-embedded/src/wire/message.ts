import { validateDocument } from '../bson/decode';
import { Doc } from '../bson/doc';
import { ServerError } from '../errors';

const OP_REPLY = 1;
const OP_QUERY = 2004;
const OP_MSG = 2013;
const CHECKSUM_PRESENT = 1;
const MORE_TO_COME = 2;

export const MAX_MESSAGE = 48_000_000;

/** A request as it came over the socket. */
export interface Message {
  readonly requestId: number;
  /** The first request of a driver comes in the old form and is answered in it. */
  readonly legacy: boolean;
  readonly command: Doc;
  readonly sequences: ReadonlyMap<string, readonly Buffer[]>;
  /** The client expects no reply. */
  readonly silent: boolean;
}

const malformed = (what: string): ServerError => new ServerError(17, `malformed message: ${what}`);

/** `bodyOnly`: the documents beside the body are left for the thread that uses them. */
export function parseMessage(message: Buffer, bodyOnly = false): Message {
  const requestId = message.readInt32LE(4);
  const operation = message.readInt32LE(12);
  if (operation === OP_QUERY) return parseQuery(message, requestId);
  if (operation !== OP_MSG) throw malformed(`operation code ${operation} is not supported`);
  const flags = message.readUInt32LE(16);
  if ((flags & 0xffff & ~(CHECKSUM_PRESENT | MORE_TO_COME)) !== 0)
    throw malformed('unknown required flag');
  const end = message.length - (flags & CHECKSUM_PRESENT ? 4 : 0);
  const sequences = new Map<string, Buffer[]>();
  let command: Doc | undefined;
  let at = 20;
  while (at < end) {
    const kind = message[at++];
    if (at + 4 > end) throw malformed('section without a length');
    const length = message.readInt32LE(at);
    if (length < 5 || at + length > end) throw malformed('section length');
    if (kind === 0) {
      if (command) throw malformed('two bodies');
      validateDocument(message, at, at + length);
      command = Doc.fromRaw(message, at);
    } else if (kind === 1) {
      if (!bodyOnly) readSequence(message, at, at + length, sequences);
    } else throw malformed(`section kind ${kind}`);
    at += length;
  }
  if (!command) throw malformed('no body');
  return { requestId, legacy: false, command, sequences, silent: (flags & MORE_TO_COME) !== 0 };
}

function readSequence(
  message: Buffer,
  start: number,
  end: number,
  into: Map<string, Buffer[]>,
): void {
  const nameEnd = message.indexOf(0, start + 4);
  if (nameEnd < 0 || nameEnd >= end) throw malformed('sequence without a name');
  const docs: Buffer[] = [];
  for (let at = nameEnd + 1; at < end;) {
    const length = validateDocument(message, at, end);
    docs.push(message.subarray(at, at + length));
    at += length;
  }
  into.set(message.toString('utf8', start + 4, nameEnd), docs);
}

function parseQuery(message: Buffer, requestId: number): Message {
  const nameEnd = message.indexOf(0, 20);
  const start = nameEnd + 9;
  if (nameEnd < 0 || start + 5 > message.length) throw malformed('OP_QUERY');
  if (!message.toString('utf8', 20, nameEnd).endsWith('.$cmd'))
    throw malformed('OP_QUERY is only supported for commands');
  validateDocument(message, start, message.length);
  return {
    requestId,
    legacy: true,
    command: Doc.fromRaw(message, start),
    sequences: new Map(),
    silent: false,
  };
}

let nextResponseId = 1;

/** The bytes before a reply document. */
export function replyHeader(
  request: { requestId: number; legacy: boolean },
  bodyLength: number,
): Buffer {
  nextResponseId = (nextResponseId + 1) & 0x7fffffff;
  const header = Buffer.alloc(request.legacy ? 36 : 21);
  header.writeInt32LE(header.length + bodyLength, 0);
  header.writeInt32LE(nextResponseId, 4);
  header.writeInt32LE(request.requestId, 8);
  header.writeInt32LE(request.legacy ? OP_REPLY : OP_MSG, 12);
  if (request.legacy) {
    header.writeInt32LE(8, 16);
    header.writeInt32LE(1, 32);
  }
  return header;
}

/** A request of its own around a command document. */
export function encodeMessage(body: Buffer): Buffer {
  // Moved to another thread, so the memory must not be shared with other buffers.
  const message = Buffer.allocUnsafeSlow(21 + body.length);
  message.fill(0, 0, 21);
  message.writeInt32LE(message.length, 0);
  message.writeInt32LE(OP_MSG, 12);
  body.copy(message, 21);
  return message;
}

/**
 * Cuts a byte stream into messages. Each gets a buffer of its own, so that it can move to another
 * thread.
 */
export class MessageSplitter {
  private current: Buffer | null = null;
  private filled = 0;
  private readonly head = Buffer.alloc(4);
  private headFilled = 0;

  constructor(private readonly deliver: (message: Buffer) => void) {}

  push(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) {
      if (!this.current) {
        const n = Math.min(4 - this.headFilled, chunk.length - at);
        chunk.copy(this.head, this.headFilled, at, at + n);
        this.headFilled += n;
        at += n;
        if (this.headFilled < 4) return;
        const length = this.head.readInt32LE(0);
        if (length < 16 || length > MAX_MESSAGE) throw malformed(`length ${length}`);
        this.current = Buffer.allocUnsafeSlow(length);
        this.head.copy(this.current);
        this.filled = 4;
        this.headFilled = 0;
      }
      const n = Math.min(this.current.length - this.filled, chunk.length - at);
      chunk.copy(this.current, this.filled, at, at + n);
      this.filled += n;
      at += n;
      if (this.filled === this.current.length) {
        const message = this.current;
        this.current = null;
        this.deliver(message);
      }
    }
  }
}
