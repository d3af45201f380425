import Database from 'better-sqlite3';
import fs from 'node:fs';
import path from 'node:path';
import { sampleItems } from './items';
import { Random } from './random';

/**
 * Writes the sample benchmark in BIRD's layout: two small databases that between them have every
 * trait that makes a migration or a translation go wrong, and 40 items. The same seed gives the
 * same rows.
 */
export function generateSampleBenchmark(folder: string, seed = 20260101): void {
  fs.mkdirSync(path.join(folder, 'dev_databases'), { recursive: true });
  writeDatabase(
    folder,
    'town_library',
    (sqlite) => fillLibrary(sqlite, new Random(seed)),
    libraryDescriptions,
  );
  writeDatabase(
    folder,
    'river_sensors',
    (sqlite) => fillSensors(sqlite, new Random(seed + 1)),
    sensorDescriptions,
  );
  fs.writeFileSync(path.join(folder, 'dev.json'), JSON.stringify(sampleItems, null, 1));
}

type Descriptions = Readonly<
  Record<string, readonly (readonly [column: string, description: string, values?: string])[]>
>;

function writeDatabase(
  folder: string,
  name: string,
  fill: (sqlite: Database.Database) => void,
  descriptions: Descriptions,
): void {
  const home = path.join(folder, 'dev_databases', name);
  fs.mkdirSync(path.join(home, 'database_description'), { recursive: true });
  const file = path.join(home, `${name}.sqlite`);
  fs.rmSync(file, { force: true });
  const sqlite = new Database(file);
  try {
    sqlite.pragma('foreign_keys = OFF');
    sqlite.transaction(() => fill(sqlite))();
    sqlite.exec('VACUUM');
  } finally {
    sqlite.close();
  }
  const cell = (text: string): string => `"${text.replaceAll('"', '""')}"`;
  for (const [table, columns] of Object.entries(descriptions)) {
    const rows = [
      [
        'original_column_name',
        'column_name',
        'column_description',
        'data_format',
        'value_description',
      ],
      ...columns.map(([column, description, values = '']) => [column, '', description, '', values]),
    ];
    const text = rows.map((row) => row.map(cell).join(',')).join('\r\n') + '\r\n';
    // BIRD's own files come in several encodings: one of ours has a BOM, one is cp1252.
    const bytes =
      table === 'station'
        ? Buffer.from(text, 'latin1')
        : Buffer.from(table === 'members' ? `\ufeff${text}` : text, 'utf8');
    fs.writeFileSync(path.join(home, 'database_description', `${table}.csv`), bytes);
  }
}

const GIVEN = [
  'Ada',
  'Bruno',
  'Chiara',
  'Dmitri',
  'Elif',
  'Farid',
  'Greta',
  'Hana',
  'Ivo',
  'Jun',
  'Kofi',
  'Lena',
  'Malik',
  'Nora',
  'Otis',
  'Pia',
];
const FAMILY = [
  'Abel',
  'Brandt',
  'Costa',
  'Dubois',
  'Eriksen',
  'Fontana',
  'García',
  'Holm',
  'Ito',
  'Jansen',
  'Kováč',
  'Lindqvist',
  "O'Neil",
  'Müller',
];
const SUBJECTS = [
  'River',
  'Winter',
  'Garden',
  'Silence',
  'Machine',
  'Harbour',
  'Letter',
  'Mountain',
  'Glass',
  'Orchard',
];
const SHAPES = ['The %s', 'A %s in June', '%s Songs', 'Beyond the %s', 'My %s', '%s & Ash'];
const GENRES = ['novel', 'poetry', 'history', 'science', 'children'];

function fillLibrary(sqlite: Database.Database, random: Random): void {
  const survey = Array.from(
    { length: 58 },
    (_, index) => `q${String(index + 1).padStart(2, '0')} REAL`,
  );
  sqlite.exec(`
    CREATE TABLE branches (branch_id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT, "opened on" TEXT);
    CREATE TABLE members (member_id INTEGER PRIMARY KEY, given_name TEXT NOT NULL, family_name TEXT NOT NULL, email TEXT, joined TEXT, is_active TEXT,
      referred_by INTEGER REFERENCES members(member_id), home_branch INTEGER REFERENCES branches(branch_id));
    CREATE TABLE authors (author_id INTEGER PRIMARY KEY, name TEXT NOT NULL, born INTEGER, country TEXT);
    CREATE TABLE books (book_id INTEGER PRIMARY KEY, title TEXT NOT NULL, genre TEXT, published INTEGER, pages INTEGER, list_price TEXT);
    CREATE TABLE book_authors (book_id INTEGER NOT NULL REFERENCES books(book_id), author_id INTEGER NOT NULL REFERENCES authors(author_id), position INTEGER, PRIMARY KEY (book_id, author_id));
    CREATE TABLE loans (loan_id INTEGER PRIMARY KEY, book_id INTEGER NOT NULL REFERENCES books(book_id), member_id INTEGER, lent TEXT NOT NULL, returned TEXT, renewals INTEGER DEFAULT 0);
    CREATE TABLE "Late Fees" ("Fee No." INTEGER PRIMARY KEY, loan_id INTEGER NOT NULL REFERENCES loans(loan_id), "Amount ($)" TEXT, "Paid?" TEXT);
    CREATE TABLE covers (book_id INTEGER PRIMARY KEY REFERENCES books(book_id), image BLOB, width INTEGER, height INTEGER);
    CREATE TABLE reservations (reservation_id INTEGER PRIMARY KEY, book_id INTEGER REFERENCES books(book_id), member_id INTEGER REFERENCES members(member_id), placed TEXT);
    CREATE TABLE settings (name TEXT PRIMARY KEY, value);
    CREATE TABLE branch_survey (branch_id INTEGER NOT NULL REFERENCES branches(branch_id), year INTEGER NOT NULL, ${survey.join(', ')}, PRIMARY KEY (branch_id, year));
  `);
  const insert = inserter(sqlite);
  // In this order: each takes the next numbers of one sequence.
  fillPeople(insert, random);
  fillBooks(insert, random);
  fillLoans(insert, random);
  fillSettings(insert, random);
  fillSurvey(insert, random);
}

/** Branches, and the members that they have. */
function fillPeople(insert: Insert, random: Random): void {
  const cities = ['Lindau', 'Aarhus', 'Porto', 'Lindau', 'Gdańsk'];
  cities.forEach((city, index) =>
    insert('branches', [
      index + 1,
      `${city} ${index === 3 ? 'West' : 'Central'}`,
      city,
      `${random.int(1, 12)}/${random.int(1, 28)}/${random.int(1950, 2015)}`,
    ]),
  );
  for (let id = 1; id <= 60; id++) {
    const [given, family] = [random.pick(GIVEN), random.pick(FAMILY)];
    const email = random.chance(0.15) ? null : `${given}.${id}@example.org`.toLowerCase();
    insert('members', [
      id,
      given,
      family,
      email,
      isoDate(random, 2018, 2025),
      random.chance(0.8) ? 'TRUE' : 'FALSE',
      id > 5 && random.chance(0.5) ? random.int(1, id - 1) : null,
      random.chance(0.1) ? null : random.int(1, 5),
    ]);
  }
}

function fillBooks(insert: Insert, random: Random): void {
  for (let id = 1; id <= 25; id++)
    insert('authors', [
      id,
      `${random.pick(GIVEN)} ${random.pick(FAMILY)}`,
      random.chance(0.2) ? null : random.int(1920, 1995),
      random.pick(['DE', 'DK', 'PT', 'PL', null]),
    ]);
  for (let id = 1; id <= 80; id++) {
    const title = random.pick(SHAPES).replace('%s', random.pick(SUBJECTS));
    insert('books', [
      id,
      title,
      random.chance(0.05) ? null : random.pick(GENRES),
      random.int(1955, 2024),
      random.chance(0.1) ? null : random.int(60, 900),
      `$${random.int(5, 1400).toLocaleString('en')}.${random.pick(['00', '50', '99'])}`,
    ]);
    const writers = random.sample(25, random.int(1, 3));
    writers.forEach((author, index) => insert('book_authors', [id, author + 1, index + 1]));
    if (random.chance(0.6))
      insert('covers', [
        id,
        random.bytes(random.int(8, 40)),
        random.int(200, 400),
        random.int(300, 600),
      ]);
  }
}

function fillLoans(insert: Insert, random: Random): void {
  let fee = 0;
  for (let id = 1; id <= 400; id++) {
    const renewals = random.int(0, 3);
    const returned = random.chance(0.2) ? null : isoDate(random, 2025, 2025);
    // `member_id` refers to members without saying so; some loans were made without a card.
    insert('loans', [
      id,
      random.int(1, 80),
      random.chance(0.04) ? null : random.int(1, 60),
      isoDate(random, 2024, 2024),
      returned,
      renewals,
    ]);
    if (random.chance(0.2))
      insert('Late Fees', [
        ++fee,
        id,
        `$${random.int(1, 40)}.${random.pick(['00', '25', '75'])}`,
        random.chance(0.7) ? 'yes' : 'no',
      ]);
  }
}

function fillSettings(insert: Insert, random: Random): void {
  const settings: [string, unknown][] = [
    ['max_loans', 8n],
    ['fee_per_day', 0.25],
    ['greeting', 'Welcome'],
    ['logo', random.bytes(6)],
    ['closed', null],
    ['version', '12'],
    ['empty', ''],
    ['padded', 'two  '],
    ['largest', 9223372036854775807n],
    ['smallest', -9223372036854775808n],
  ];
  for (const [name, value] of settings) insert('settings', [name, value]);
}

function fillSurvey(insert: Insert, random: Random): void {
  for (let branch = 1; branch <= 5; branch++) {
    for (let year = 2022; year <= 2024; year++)
      insert('branch_survey', [
        branch,
        year,
        ...Array.from({ length: 58 }, () => (random.chance(0.1) ? null : random.int(0, 1000) / 10)),
      ]);
  }
}

function fillSensors(sqlite: Database.Database, random: Random): void {
  sqlite.exec(`
    CREATE TABLE station (code TEXT PRIMARY KEY, "name" TEXT, "river" TEXT, "größe" REAL, "$cost" TEXT, automatic TEXT, upstream TEXT REFERENCES station(code));
    CREATE TABLE "sensor.type" (id INTEGER PRIMARY KEY, "label" TEXT, "unit.si" TEXT);
    CREATE TABLE sensor (id INTEGER PRIMARY KEY, station TEXT REFERENCES station(code), type_id INTEGER NOT NULL REFERENCES "sensor.type"(id), installed TEXT, serial TEXT);
    CREATE TABLE reading (id INTEGER PRIMARY KEY, station TEXT REFERENCES station(code), taken TEXT NOT NULL, level REAL, температура REAL, flag INTEGER);
    CREATE TABLE inspection (station TEXT NOT NULL REFERENCES station(code), visit INTEGER NOT NULL, inspector TEXT, passed TEXT, remarks TEXT, PRIMARY KEY (station, visit));
  `);
  const insert = inserter(sqlite);
  const codes = Array.from({ length: 12 }, (_, index) => `ST${String(index + 1).padStart(2, '0')}`);
  const rivers = ['Elbe', 'Elbe', 'Oder', 'Tejo', null];
  codes.forEach((code, index) =>
    insert('station', [
      code,
      `Gauge ${index + 1}`,
      rivers[index % 5],
      random.int(10, 900) / 10,
      `€${random.int(2, 30)}000.00`,
      random.chance(0.7) ? 'true' : 'false',
      index > 0 && random.chance(0.7) ? codes[index - 1] : null,
    ]),
  );
  ['water level', 'temperature', 'flow', 'turbidity'].forEach((label, index) =>
    insert('sensor.type', [index + 1, label, ['m', '°C', 'm³/s', 'NTU'][index]]),
  );
  for (let id = 1; id <= 40; id++) {
    const unknown = (): string | null => (random.chance(0.5) ? null : 'ST99');
    const station = random.chance(0.1) ? unknown() : random.pick(codes);
    insert('sensor', [
      id,
      station,
      random.int(1, 4),
      `${random.int(1, 12)}/${random.int(1, 28)}/${random.int(2015, 2024)}`,
      `0${random.int(10000, 99999)}`,
    ]);
  }
  let id = 0;
  const reading = (station: string | null): void => {
    const level = random.chance(0.03) ? null : random.int(20, 900) / 100;
    insert('reading', [
      ++id,
      station,
      `${isoDate(random, 2023, 2024)} ` +
        `${String(random.int(0, 23)).padStart(2, '0')}:${random.pick(['00', '15', '30', '45'])}:00`,
      level,
      random.chance(0.2) ? null : random.int(-20, 260) / 10,
      random.chance(0.1) ? 1 : 0,
    ]);
  };
  for (let n = 0; n < 5000; n++) reading('ST01');
  for (let n = 0; n < 240; n++) reading(random.pick(codes.slice(1)));
  for (const code of codes) {
    for (let visit = 1; visit <= random.int(1, 4); visit++)
      insert('inspection', [
        code,
        visit,
        random.pick(FAMILY),
        random.chance(0.8) ? 'Y' : 'N',
        random.chance(0.3) ? 'silt <b>removed</b>' : null,
      ]);
  }
}

const isoDate = (random: Random, from: number, to: number): string =>
  `${random.int(from, to)}-${String(random.int(1, 12)).padStart(2, '0')}-${String(random.int(1, 28)).padStart(2, '0')}`;

type Insert = (table: string, values: readonly unknown[]) => void;

function inserter(sqlite: Database.Database): Insert {
  const statements = new Map<string, Database.Statement>();
  return (table, values) => {
    let statement = statements.get(table);
    if (!statement)
      statements.set(
        table,
        (statement = sqlite.prepare(
          `INSERT INTO "${table}" VALUES (${values.map(() => '?').join(', ')})`,
        )),
      );
    statement.run(...values);
  };
}

const libraryDescriptions: Descriptions = {
  members: [
    ['member_id', 'number on the library card'],
    ['is_active', 'whether the card is valid', 'TRUE: valid; FALSE: expired or withdrawn'],
    ['joined', 'day of registration', 'YYYY-MM-DD'],
    ['referred_by', 'the member who recommended the library'],
    ['home_branch', 'the branch where the member usually borrows'],
  ],
  books: [
    ['list_price', 'price as printed on the cover', 'dollars as text, with thousands separators'],
    ['published', 'year of first publication'],
  ],
  loans: [
    ['member_id', 'who borrowed; empty for loans without a card'],
    ['lent', 'day on which the book left', 'YYYY-MM-DD'],
    ['returned', 'day on which it came back; empty while it is out'],
  ],
  'Late Fees': [
    ['Amount ($)', 'fee in dollars, as text'],
    ['Paid?', 'whether the fee was settled', 'yes, no'],
  ],
  branches: [['opened on', 'opening day', 'M/D/YYYY']],
};

const sensorDescriptions: Descriptions = {
  station: [
    ['größe', 'catchment area in km²'],
    ['$cost', 'building cost in euros, as text'],
    ['automatic', 'whether the station reports by itself', 'true, false'],
    ['upstream', 'the next station upstream'],
  ],
  reading: [
    ['taken', 'time of the reading, UTC', 'YYYY-MM-DD HH:MM:SS'],
    ['level', 'water level in metres'],
    ['температура', 'water temperature in °C'],
  ],
  inspection: [['passed', 'result of the visit', 'Y: passed; N: failed']],
};
