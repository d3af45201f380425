#!/usr/bin/env node
// Prisma's command line downloads a native schema engine from a host of its own, which `npm ci`
// must not need. It starts whatever PRISMA_SCHEMA_ENGINE_BINARY names (see prisma.config.ts) and
// speaks JSON-RPC with it, one message a line on stdin and stdout; log lines and failures of `cli`
// commands go to stderr as JSON. This program answers with the same engine compiled to WebAssembly,
// from the npm package, over the pg driver.
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { PrismaPg } from '@prisma/adapter-pg';
import { ColumnTypeEnum, bindMigrationAwareSqlAdapterFactory } from '@prisma/driver-adapter-utils';
import pg from 'pg';

const wasmFolder = dirname(
  createRequire(import.meta.url).resolve('@prisma/schema-engine-wasm/schema_engine_bg'),
);

/** Reads the flags that Prisma passes before its verb. */
function readArguments(argv) {
  const given = { models: [], url: '', shadowUrl: undefined, verbs: [] };
  const words = argv[Symbol.iterator]();
  for (const word of words) {
    const value = () => words.next().value;
    if (word === '-d' || word === '--datamodels') given.models.push(value());
    else if (word === '--datasource') {
      const source = JSON.parse(value());
      given.url = source.url ?? '';
      given.shadowUrl = source.shadowDatabaseUrl;
    } else if (word === '--enabled-preview-features' || word === '--extension-types') value();
    else given.verbs.push(word);
  }
  return given;
}

async function withClient(url, work) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

const siblingDatabase = (url, name) =>
  Object.assign(new URL(url), { pathname: `/${encodeURIComponent(name)}` }).toString();

/** Prisma's number for a failure of the driver, so that its own messages and retries apply. */
function prismaCode(error) {
  const code = String(error?.code ?? '');
  if (/^P\d{4}$/.test(code)) return code;
  return {
    ECONNREFUSED: 'P1001',
    ENOTFOUND: 'P1001',
    '3D000': 'P1003',
    '28P01': 'P1000',
    28000: 'P1000',
  }[code];
}

// ── `cli` verbs: whole processes, answered by exit status ────────────────────────────────────────

async function runCliVerb(verb, url) {
  const name = decodeURIComponent(new URL(url).pathname.slice(1));
  const maintenance = siblingDatabase(url, 'postgres');
  if (verb === 'can-connect-to-database') return withClient(url, () => undefined);
  if (verb === 'drop-database')
    return withClient(maintenance, (client) =>
      client.query(`DROP DATABASE ${pg.escapeIdentifier(name)}`),
    );
  if (verb !== 'create-database') throw new Error(`this schema engine knows no command "${verb}"`);
  return withClient(maintenance, async (client) => {
    try {
      await client.query(`CREATE DATABASE ${pg.escapeIdentifier(name)}`);
    } catch (error) {
      // Somebody else created it meanwhile: that is what was asked for.
      if (error.code !== '42P04' && error.code !== '23505') throw error;
    }
  });
}

function reportCliFailure(error) {
  const record = {
    timestamp: new Date().toISOString(),
    level: 'ERROR',
    target: 'schema_engine::logger',
    fields: { message: error.message, error_code: prismaCode(error) ?? 'P1000', is_panic: false },
  };
  // The reader skips the first line.
  process.stderr.write(`\n${JSON.stringify(record)}\n`);
}

// ── The driver under the WebAssembly engine ──────────────────────────────────────────────────────

const scalarTypes = {
  Boolean: [16],
  Bytes: [17],
  Character: [18],
  Int64: [20, 26],
  Int32: [21, 23],
  Json: [114, 3802],
  Float: [700],
  Double: [701],
  Numeric: [1700],
  Date: [1082],
  Time: [1083],
  DateTime: [1114, 1184],
  Uuid: [2950],
  BooleanArray: [1000],
  CharacterArray: [1002],
  TextArray: [1003, 1009, 1015],
  Int32Array: [1005, 1007],
  Int64Array: [1016, 1028],
};
const typeOfOid = new Map(
  Object.entries(scalarTypes).flatMap(([type, oids]) =>
    oids.map((oid) => [oid, ColumnTypeEnum[type]]),
  ),
);

/**
 * The adapter refuses the catalogue's own "char" type (18), which the engine reads, and cuts
 * scripts at every semicolon, even inside a function's body: do both ourselves.
 */
function forSchemas(connection) {
  const client = connection.underlyingDriver();
  const types = { getTypeParser: () => (text) => text };
  const parse = (oid, text) => {
    if (text === null) return null;
    switch (typeOfOid.get(oid)) {
      case ColumnTypeEnum.Boolean:
        return text === 't';
      case ColumnTypeEnum.Int32:
      case ColumnTypeEnum.Float:
      case ColumnTypeEnum.Double:
        return Number(text);
      case ColumnTypeEnum.DateTime:
        return new Date(/[+-]\d\d(:\d\d)?$/.test(text) ? text : `${text}Z`).toISOString();
      case ColumnTypeEnum.BooleanArray:
      case ColumnTypeEnum.CharacterArray:
      case ColumnTypeEnum.TextArray:
      case ColumnTypeEnum.Int32Array:
      case ColumnTypeEnum.Int64Array:
        return pg.types.getTypeParser(oid, 'text')(text);
      default:
        return text;
    }
  };
  connection.queryRaw = async ({ sql, args }) => {
    const result = await client.query({ text: sql, values: args, rowMode: 'array', types });
    return {
      columnNames: result.fields.map((field) => field.name),
      columnTypes: result.fields.map(
        (field) => typeOfOid.get(field.dataTypeID) ?? ColumnTypeEnum.Text,
      ),
      rows: result.rows.map((row) =>
        row.map((cell, at) => parse(result.fields[at].dataTypeID, cell)),
      ),
    };
  };
  connection.executeScript = async (script) => {
    await client.query(script);
  };
  return connection;
}

function driverFactory({ url, shadowUrl }) {
  const address = url || 'postgresql://nowhere.invalid/none';
  const schema = new URL(address).searchParams.get('schema') ?? undefined;
  const open = async (to) =>
    forSchemas(await new PrismaPg({ connectionString: to }, { schema }).connect());

  const temporaryShadow = async () => {
    const name = `prisma_migrate_shadow_db_${randomUUID()}`;
    await withClient(address, (client) =>
      client.query(`CREATE DATABASE ${pg.escapeIdentifier(name)}`),
    );
    const connection = await open(siblingDatabase(address, name));
    const dispose = connection.dispose.bind(connection);
    connection.dispose = async () => {
      await dispose();
      await withClient(address, (client) =>
        client.query(`DROP DATABASE IF EXISTS ${pg.escapeIdentifier(name)} WITH (FORCE)`),
      );
    };
    return connection;
  };

  return {
    provider: 'postgres',
    adapterName: '@prisma/adapter-pg',
    connect: () => open(address),
    connectToShadowDb: () => (shadowUrl ? open(shadowUrl) : temporaryShadow()),
  };
}

async function startEngine(given, driver) {
  const glue = await import('@prisma/schema-engine-wasm/schema_engine_bg');
  const module = readFileSync(join(wasmFolder, 'schema_engine_bg.wasm'));
  const { instance } = await WebAssembly.instantiate(module, { './schema_engine_bg.js': glue });
  glue.__wbg_set_wasm(instance.exports);
  instance.exports.__wbindgen_start();
  const datamodels =
    given.models.length > 0
      ? given.models.map((file) => [file, readFileSync(file, 'utf8')])
      : undefined;
  return glue.SchemaEngine.new({ datamodels }, () => {}, driver);
}

// ── JSON-RPC ─────────────────────────────────────────────────────────────────────────────────────

const send = (message) =>
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

async function answer({ id, method, params }, driver, running) {
  try {
    const engine = await running();
    let result;
    if (method === 'getDatabaseVersion') result = await engine.version(params);
    else if (method === 'createDatabase') result = { databaseName: '' };
    else result = await engine[method](params);
    // The native engine prints a diff itself, by calling back.
    if (method === 'diff' && result?.stdout)
      send({ id: 1, method: 'print', params: { content: result.stdout } });
    send({ id, result: result ?? {} });
  } catch (error) {
    const cause = driverError(driver, error) ?? error;
    send({
      id,
      error: {
        code: 4466,
        message: 'An error happened. Check the data field for details.',
        data: {
          is_panic: false,
          message: String(cause?.message ?? cause),
          error_code: prismaCode(cause) ?? error?.code,
          meta: error?.meta,
        },
      },
    });
  }
}

/** The engine knows a failure of the driver by number only; the registry keeps the error itself. */
function driverError(driver, error) {
  const number = /\bid\D{0,12}(\d+)/.exec(String(error?.message))?.[1];
  return number === undefined
    ? undefined
    : driver.errorRegistry.consumeError(Number(number))?.error;
}

function serve(given) {
  const driver = bindMigrationAwareSqlAdapterFactory(driverFactory(given));
  let started;
  const running = () => (started ??= startEngine(given, driver));
  let last = Promise.resolve();
  const lines = createInterface({ input: process.stdin });
  lines.on('line', (line) => {
    const message = line.trim() === '' ? {} : JSON.parse(line);
    if (message.method !== undefined) last = last.then(() => answer(message, driver, running));
  });
  lines.on('close', () => last.finally(() => process.exit(0)));
}

const given = readArguments(process.argv.slice(2));
if (given.verbs[0] === '--version' || given.verbs[0] === '-V') {
  const { version } = JSON.parse(readFileSync(join(wasmFolder, 'package.json'), 'utf8'));
  console.log(`schema-engine-cli ${version.split('.').at(-1)}`);
} else if (given.verbs[0] === 'cli') {
  runCliVerb(given.verbs[1], given.url).catch((error) => {
    reportCliFailure(error);
    process.exitCode = 1;
  });
} else {
  serve(given);
}
