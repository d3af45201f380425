import fs from 'node:fs';
import path from 'node:path';
import Database from 'better-sqlite3';

/**
 * What `shop` asks of its database: joins of customers with their orders, and what stands beside
 * them.
 */
const SQL: readonly string[] = [
  'SELECT c.life, o.total FROM customer c JOIN orders o ON o.customer_id = c.id',
  'SELECT c.life, o.total FROM customer AS c INNER JOIN orders AS o ON c.id = o.customer_id ' +
    "WHERE c.city = 'Oslo'",
  'SELECT c.life, o.day FROM orders o JOIN customer c ON c.id = o.customer_id WHERE o.total > 900',
  'SELECT c.life, o.day, o.total FROM customer c LEFT JOIN orders o ON o.customer_id = c.id ' +
    'WHERE c.id BETWEEN 1 AND 60',
  'SELECT c.life, sum(o.total), max(o.day) FROM customer c JOIN orders o ON o.customer_id = c.id ' +
    'GROUP BY c.id HAVING sum(o.total) > 4000 ORDER BY sum(o.total) DESC',
  'SELECT c.city, c.life, count(o.oid) FROM customer c LEFT JOIN orders o ON o.customer_id = ' +
    'c.id GROUP BY c.id, c.city ORDER BY c.id LIMIT 20',
  'SELECT c.life, o.oid, o.total FROM customer c JOIN orders o ON o.customer_id = c.id ORDER BY ' +
    'o.total DESC, o.oid LIMIT 25',
  'SELECT DISTINCT c.life FROM customer c JOIN orders o ON o.customer_id = c.id WHERE o.day >= ' +
    "'2023-01-01' AND c.city = 'Rome'",
  'SELECT c.life FROM customer c LEFT JOIN orders o ON o.customer_id = c.id WHERE o.oid IS NULL',
  'SELECT count(*) FROM orders WHERE total > 500',
  'SELECT note FROM orders WHERE oid = 700',
  "SELECT count(*) FROM customer WHERE city = 'Bonn'",
  'SELECT c.life, o.note FROM customer c JOIN orders o ON o.customer_id = c.id WHERE o.oid < 9',
];

/**
 * A BIRD folder with one database: 2,000 customers with 0–5 orders, but for three that have 1,500;
 * orders of nobody known, nulls, ties.
 */
export function writeOutlierBenchmark(folder: string): void {
  const home = path.join(folder, 'dev_databases', 'shop');
  fs.mkdirSync(home, { recursive: true });
  const sqlite = new Database(path.join(home, 'shop.sqlite'));
  try {
    sqlite.pragma('foreign_keys = OFF');
    sqlite.exec(`
      CREATE TABLE customer (id INTEGER PRIMARY KEY, city TEXT, life TEXT NOT NULL);
      CREATE TABLE orders (oid INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customer(id), total REAL, day TEXT NOT NULL, note TEXT);`);
    const customer = sqlite.prepare('INSERT INTO customer VALUES (?, ?, ?)');
    const order = sqlite.prepare('INSERT INTO orders VALUES (?, ?, ?, ?, ?)');
    const big = new Set([7, 700, 1403]);
    sqlite.transaction(() => {
      let oid = 0;
      for (let id = 1; id <= 2000; id++) {
        customer.run(
          id,
          id % 11 === 0 ? null : ['Oslo', 'Rome', 'Bonn', 'Lima'][id % 4],
          `${'born, worked, rested; '.repeat(14)}${id}`,
        );
        for (let n = 0; n < (big.has(id) ? 1500 : id % 6); n++) {
          oid++;
          order.run(
            oid,
            id,
            oid % 13 === 0 ? null : (oid * 37) % 1000,
            `20${20 + (oid % 5)}-0${1 + (oid % 9)}-1${oid % 7}`,
            `note ${'x'.repeat(oid % 300)}`,
          );
        }
      }
      for (let n = 0; n < 3; n++) order.run(++oid, 5000 + n, n, '2021-01-01', null);
    })();
  } finally {
    sqlite.close();
  }
  fs.writeFileSync(
    path.join(folder, 'dev.json'),
    JSON.stringify(
      SQL.map((text, index) => ({
        question_id: index,
        db_id: 'shop',
        question: `Question ${index}`,
        evidence: '',
        SQL: text,
        difficulty: 'simple',
      })),
      null,
      1,
    ),
  );
}
