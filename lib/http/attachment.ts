/**
 * A header holds Latin letters only; the name as it is follows by RFC 6266. What no file system
 * takes becomes `_`.
 */
export function attachment(fileName: string): string {
  const legal = fileName.replace(/[\p{Cc}"\\/:*?<>|]/gu, '_');
  const plain = legal.replace(/[^\x20-\x7e]/g, '_');
  const encoded = encodeURIComponent(Buffer.from(legal).toString()).replace(
    /['()]/g,
    (found) => `%${found.charCodeAt(0).toString(16)}`,
  );
  const exact = plain === legal ? '' : `; filename*=UTF-8''${encoded}`;
  return `attachment; filename="${plain}"${exact}`;
}
