import { expect, test } from 'vitest';
import { attachment } from '../http/attachment';

test('a file keeps its name, in letters that a header and a file system take', () => {
  expect(attachment('decisions.csv')).toBe('attachment; filename="decisions.csv"');
  expect(attachment('shop-a "b"\r\n/..\\c.csv')).toBe(
    'attachment; filename="shop-a _b____.._c.csv"',
  );
  expect(attachment("shop-Größe '1'.csv")).toBe(
    `attachment; filename="shop-Gr__e '1'.csv"; ` +
      `filename*=UTF-8''shop-Gr%C3%B6%C3%9Fe%20%271%27.csv`,
  );
  expect(attachment('\ud800.csv')).toContain('%EF%BF%BD');
  expect(
    new Headers({ 'content-disposition': attachment('価格.csv') }).get('content-disposition'),
  ).toContain('%E4%BE%A1');
});
