import { bsonTypes } from '../design/model/bson-types';
import {
  isEmbed,
  type Field,
  type IdRule,
  type LogicalDesign,
} from '../design/model/document-design';
import { heldKey } from '../design/model/placement';
import { identity } from '../design/model/transform';
import type { Profile } from '../sqlite/profile/profile';

/**
 * JSON Schema (MongoDB's `$jsonSchema` dialect) of one collection, from its logical design and the
 * types as stored.
 */
export function jsonSchema(design: LogicalDesign, profile: Profile): Record<string, unknown> {
  const id =
    design.id.kind === 'column'
      ? { bsonType: bsonTypes(design.id.transform, design.rootTable, design.id.column, profile) }
      : { bsonType: 'int' };
  return {
    title: design.collection,
    ...objectSchema(design.fields, design.rootTable, profile, design.id, { _id: id }),
  };
}

type Schema = Record<string, unknown>;

/** Where a field is: its siblings, the table of their row, and the rule of its `_id`. */
interface Place {
  readonly fields: readonly Field[];
  readonly table: string;
  readonly profile: Profile;
  readonly rule?: IdRule | undefined;
}

function objectSchema(
  fields: readonly Field[],
  table: string,
  profile: Profile,
  rule?: IdRule,
  more: Schema = {},
): Schema {
  const properties = { ...more };
  const required = Object.keys(more);
  for (const field of fields) {
    properties[field.name] = fieldSchema(field, table, profile);
    if (field.kind === 'outlier')
      properties[field.flag] = flagSchema(field, { fields, table, profile, rule });
    if (field.kind !== 'embedOne' && field.kind !== 'extendedReference') required.push(field.name);
  }
  return { bsonType: 'object', required, properties };
}

function fieldSchema(field: Field, table: string, profile: Profile): Schema {
  if (field.kind === 'column')
    return {
      bsonType: bsonTypes(field.transform, table, field.column, profile),
      description: `${table}.${field.column}`,
    };
  if (field.kind === 'attribute') return attributeSchema(field, table, profile);
  if (field.kind === 'computed') {
    const of = `${field.table}${field.column === undefined ? '' : `.${field.column}`}`;
    return { description: `${field.aggregate} over ${of}` };
  }
  const inner = objectSchema(field.fields, field.table, profile);
  if (field.kind === 'extendedReference')
    return { ...inner, description: `copy of ${field.table}` };
  if (isEmbed(field))
    return field.kind === 'embedMany' ? { bsonType: 'array', items: inner } : inner;
  return {
    bsonType: 'array',
    maxItems: field.limit,
    items: inner,
    description:
      field.kind === 'subset'
        ? `copies of the first ${field.limit} rows of ${field.table}`
        : `copies of all rows of ${field.table}, where there are ${field.limit} at most`,
  };
}

/** The parent's key, in the documents whose rows are too many for the array. */
function flagSchema(
  field: Extract<Field, { kind: 'outlier' }>,
  { fields, table, profile, rule }: Place,
): Schema {
  const parent = field.join[0]!.parent;
  return {
    bsonType: bsonTypes(heldKey(fields, rule, parent) ?? identity, table, parent, profile),
    description:
      `${table}.${parent}, only where there are more than ${field.limit} rows of ` +
      `${field.table}`,
  };
}

function attributeSchema(
  { fields }: Extract<Field, { kind: 'attribute' }>,
  table: string,
  profile: Profile,
): Schema {
  const types = fields.flatMap(({ transform, column }) =>
    bsonTypes(transform, table, column, profile),
  );
  const values = [...new Set(types)].filter((type) => type !== 'null');
  const entry = {
    bsonType: 'object',
    required: ['k', 'v'],
    properties: {
      k: { enum: fields.map(({ name }) => name) },
      v: values.length > 0 ? { bsonType: values } : {},
    },
  };
  return {
    bsonType: 'array',
    maxItems: fields.length,
    items: entry,
    description: 'names and values of these fields, without those that are null',
  };
}
