import { createHash, createHmac, pbkdf2Sync, randomBytes, timingSafeEqual } from 'node:crypto';
import { ServerError } from '../errors';

const ITERATIONS = 15_000;

/** What the server keeps of a password (RFC 5802, RFC 7677). */
export interface Credential {
  readonly user: string;
  readonly salt: Buffer;
  readonly storedKey: Buffer;
  readonly serverKey: Buffer;
}

const hmac = (key: Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();

export function makeCredential(user: string, password: string): Credential {
  const salt = randomBytes(28);
  const salted = pbkdf2Sync(password, salt, ITERATIONS, 32, 'sha256');
  return {
    user,
    salt,
    storedKey: createHash('sha256').update(hmac(salted, 'Client Key')).digest(),
    serverKey: hmac(salted, 'Server Key'),
  };
}

const failed = (): ServerError => new ServerError(18, 'Authentication failed.');

function attributes(text: string): Map<string, string> {
  return new Map(text.split(',').map((part) => [part.slice(0, 1), part.slice(2)]));
}

/** One SCRAM-SHA-256 conversation, from the server's side. */
export class ScramConversation {
  private clientFirst = '';
  private serverFirst = '';
  private nonce = '';
  done = false;

  constructor(private readonly credential: Credential) {}

  start(payload: string): string {
    const match = /^[ny],(?:a=[^,]*)?,(n=[^,]*,r=[^,]*.*)$/.exec(payload);
    if (!match) throw failed();
    this.clientFirst = match[1] as string;
    const fields = attributes(this.clientFirst);
    const user = fields.get('n')?.replace(/=2C/g, ',').replace(/=3D/g, '=');
    if (user !== this.credential.user || !fields.get('r')) throw failed();
    this.nonce = `${fields.get('r')}${randomBytes(24).toString('base64')}`;
    const salt = this.credential.salt.toString('base64');
    this.serverFirst = `r=${this.nonce},s=${salt},i=${ITERATIONS}`;
    return this.serverFirst;
  }

  finish(payload: string): string {
    const fields = attributes(payload);
    const proof = Buffer.from(fields.get('p') ?? '', 'base64');
    if (!this.nonce || fields.get('r') !== this.nonce || proof.length !== 32) throw failed();
    const withoutProof = payload.slice(0, payload.lastIndexOf(',p='));
    const message = `${this.clientFirst},${this.serverFirst},${withoutProof}`;
    const signature = hmac(this.credential.storedKey, message);
    const clientKey = Buffer.from(proof.map((byte, i) => byte ^ (signature[i] as number)));
    const stored = createHash('sha256').update(clientKey).digest();
    if (!timingSafeEqual(stored, this.credential.storedKey)) throw failed();
    this.done = true;
    return `v=${hmac(this.credential.serverKey, message).toString('base64')}`;
  }
}
