import fs from 'node:fs';
import path from 'node:path';
import { hashFile, type FileRecord } from './files';
import { signatureHolds } from './signature';

/**
 * Every file of a bundle against its manifest and SHA256SUMS: what is missing, altered, not listed
 * or no file.
 */
export async function fileProblems(
  folder: string,
  files: Readonly<Record<string, FileRecord>>,
): Promise<string[]> {
  const problems: string[] = [];
  const sums = readSums(folder, problems);
  for (const [name, record] of Object.entries(files)) {
    const file = path.join(folder, name);
    if (!path.resolve(file).startsWith(path.resolve(folder) + path.sep))
      problems.push(`${name}: lies outside the bundle`);
    else if (!fs.existsSync(file)) problems.push(`${name}: missing`);
    // What a link leads to is not in the bundle, and reading a pipe would never end.
    else if (!fs.lstatSync(file).isFile())
      problems.push(`${name}: ${kindOf(fs.lstatSync(file))} instead of a file`);
    else {
      const now = await hashFile(file);
      if (now.sha256 !== record.sha256 || now.bytes !== record.bytes)
        problems.push(`${name}: differs from MANIFEST.json`);
      if (sums && sums.get(name) !== now.sha256)
        problems.push(`${name}: ${sums.has(name) ? 'differs from' : 'not in'} SHA256SUMS`);
    }
  }
  const known = new Set([
    ...Object.keys(files),
    'MANIFEST.json',
    'MANIFEST.sig',
    'SHA256SUMS',
    'report.json',
  ]);
  for (const entry of fs.readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const name = path
      .relative(folder, path.join(entry.parentPath, entry.name))
      .split(path.sep)
      .join('/');
    if (!entry.isDirectory() && !known.has(name))
      problems.push(
        `${name}: ${entry.isFile() ? '' : `${kindOf(entry)}, `}not listed in MANIFEST.json`,
      );
  }
  return problems;
}

const kindOf = (entry: { isSymbolicLink(): boolean; isDirectory(): boolean }): string => {
  if (entry.isSymbolicLink()) return 'a symbolic link';
  return entry.isDirectory() ? 'a folder' : 'something special';
};

function readSums(folder: string, problems: string[]): Map<string, string> | undefined {
  const file = path.join(folder, 'SHA256SUMS');
  if (!fs.existsSync(file)) {
    problems.push('SHA256SUMS: missing');
    return undefined;
  }
  return new Map(
    fs
      .readFileSync(file, 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => [line.slice(66), line.slice(0, 64)]),
  );
}

/** Whether the signature belongs to these bytes and this key. */
export function signatureProblems(
  folder: string,
  manifest: Uint8Array,
  publicKey: string,
): string[] {
  const file = path.join(folder, 'MANIFEST.sig');
  if (!fs.existsSync(file)) return ['MANIFEST.sig: missing'];
  if (Buffer.from(publicKey, 'base64').length !== 32)
    return ['MANIFEST.sig: cannot be checked: a public key is 32 bytes in base64'];
  return signatureHolds(manifest, fs.readFileSync(file, 'utf8').trim(), publicKey)
    ? []
    : ['MANIFEST.sig: the signature does not belong to MANIFEST.json and this key'];
}
