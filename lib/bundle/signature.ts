import { createPrivateKey, createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';

/** The installation's Ed25519 key. The public half is 32 bytes in base64: what leads publish. */
export interface SigningKey {
  readonly publicKey: string;
  /** Signature of the bytes, base64. */
  sign(bytes: Uint8Array): string;
}

/** Reads the key of this installation, or makes one: readable by its owner only. */
export function installationKey(dataFolder: string): SigningKey {
  const file = path.join(dataFolder, 'signing-key.pem');
  if (!fs.existsSync(file)) {
    fs.mkdirSync(dataFolder, { recursive: true });
    const { privateKey } = generateKeyPairSync('ed25519');
    // `wx`: of two processes that start at once, one writes and the other reads.
    try {
      fs.writeFileSync(file, privateKey.export({ type: 'pkcs8', format: 'pem' }), {
        mode: 0o600,
        flag: 'wx',
      });
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    }
  }
  return signingKey(fs.readFileSync(file, 'utf8'));
}

/** A key from its PKCS #8 PEM text. */
export function signingKey(pem: string): SigningKey {
  const privateKey = createPrivateKey(pem);
  const publicKey = createPublicKey(privateKey).export({ format: 'jwk' }).x;
  if (!publicKey) throw new Error('the signing key is not an Ed25519 key');
  return {
    publicKey: toBase64(publicKey),
    sign: (bytes) => sign(null, bytes, privateKey).toString('base64'),
  };
}

/** Does the signature over the bytes come from the owner of this public key? */
export function signatureHolds(bytes: Uint8Array, signature: string, publicKey: string): boolean {
  const x = Buffer.from(publicKey, 'base64').toString('base64url');
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  return verify(null, bytes, key, Buffer.from(signature, 'base64'));
}

const toBase64 = (urlSafe: string): string => Buffer.from(urlSafe, 'base64url').toString('base64');
