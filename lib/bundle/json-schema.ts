import { bsonTypes } from '../design/bson-types';
import { isEmbed, type Field, type IdRule, type LogicalDesign } from '../design/document-design';
import { heldKey } from '../design/placement';
import { identity } from '../design/transform';
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

function objectSchema(
  fields: readonly Field[],
  table: string,
  profile: Profile,
  rule?: IdRule,
  more: Record<string, unknown> = {},
): Record<string, unknown> {
  const properties = { ...more };
  const required = Object.keys(more);
  for (const field of fields) {
    if (field.kind === 'column') {
      properties[field.name] = {
        bsonType: bsonTypes(field.transform, table, field.column, profile),
        description: `${table}.${field.column}`,
      };
      required.push(field.name);
    } else if (isEmbed(field)) {
      const inner = objectSchema(field.fields, field.table, profile);
      properties[field.name] =
        field.kind === 'embedMany' ? { bsonType: 'array', items: inner } : inner;
      if (field.kind === 'embedMany') required.push(field.name);
    } else if (field.kind === 'subset') {
      properties[field.name] = {
        bsonType: 'array',
        maxItems: field.limit,
        items: objectSchema(field.fields, field.table, profile),
        description: `copies of the first ${field.limit} rows of ${field.table}`,
      };
      required.push(field.name);
    } else if (field.kind === 'outlier') {
      const parent = field.join[0]!.parent;
      properties[field.name] = {
        bsonType: 'array',
        maxItems: field.limit,
        items: objectSchema(field.fields, field.table, profile),
        description: `copies of all rows of ${field.table}, where there are ${field.limit} at most`,
      };
      properties[field.flag] = {
        bsonType: bsonTypes(heldKey(fields, rule, parent) ?? identity, table, parent, profile),
        description:
          `${table}.${parent}, only where there are more than ${field.limit} rows of ` +
          `${field.table}`,
      };
      required.push(field.name);
    } else if (field.kind === 'attribute') {
      const values = [
        ...new Set(
          field.fields.flatMap(({ transform, column }) =>
            bsonTypes(transform, table, column, profile),
          ),
        ),
      ].filter((type) => type !== 'null');
      const entry = {
        bsonType: 'object',
        required: ['k', 'v'],
        properties: {
          k: { enum: field.fields.map(({ name }) => name) },
          v: values.length > 0 ? { bsonType: values } : {},
        },
      };
      properties[field.name] = {
        bsonType: 'array',
        maxItems: field.fields.length,
        items: entry,
        description: 'names and values of these fields, without those that are null',
      };
      required.push(field.name);
    } else if (field.kind === 'extendedReference') {
      properties[field.name] = {
        ...objectSchema(field.fields, field.table, profile),
        description: `copy of ${field.table}`,
      };
    } else {
      properties[field.name] = {
        description:
          `${field.aggregate} over ` +
          `${field.table}${field.column === undefined ? '' : `.${field.column}`}`,
      };
      required.push(field.name);
    }
  }
  return { bsonType: 'object', required, properties };
}
