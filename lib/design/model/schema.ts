import { z } from 'zod';
import {
  CHOICES,
  type ConceptualDesign,
  type DocumentDesign,
  type Field,
  type IndexDesign,
  type LogicalDesign,
} from './document-design';
import { collectionNameProblem, fieldNameProblem } from './names';
import { transformSchema } from './transform-kind';

/** What an agent or a reviewer submits is parsed by these before anything else looks at it. */

const named = (problemOf: (name: string) => string | undefined) =>
  z.string().superRefine((name, context) => {
    const message = problemOf(name);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  });
const fieldName = named(fieldNameProblem);
const collectionName = named(collectionNameProblem);

// Each makes a SELECT of the mapping that compares them, of which SQLite takes 500 in one
// statement.
const MAX_ATTRIBUTES = 200;

const idRule = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('column'), column: z.string(), transform: transformSchema }),
  z.strictObject({ kind: z.literal('ordinal') }),
  z.strictObject({
    kind: z.literal('bucket'),
    columns: z.array(z.string()).min(1),
    size: z
      .int()
      .min(1, 'a bucket holds one row at least')
      .max(1000, 'a bucket holds 1000 rows at most'),
  }),
]);

const columnField = z.strictObject({
  kind: z.literal('column'),
  name: fieldName,
  column: z.string(),
  transform: transformSchema,
});
const joinColumns = z.array(z.strictObject({ parent: z.string(), child: z.string() })).min(1);
const extendedReference = z.strictObject({
  kind: z.literal('extendedReference'),
  name: fieldName,
  table: z.string(),
  relationship: z.string(),
  join: joinColumns,
  fields: z.array(columnField).min(1),
});
const sortColumns = z.array(
  z.strictObject({ column: z.string(), direction: z.enum(['asc', 'desc']) }),
);
const subsetLimit = z
  .int()
  .min(1, 'a subset holds one row at least')
  .max(1000, 'a subset holds 1000 rows at most');
const subset = z.strictObject({
  kind: z.literal('subset'),
  name: fieldName,
  table: z.string(),
  relationship: z.string(),
  join: joinColumns,
  limit: subsetLimit,
  orderBy: sortColumns.min(1),
  fields: z.array(columnField).min(1),
});
const outlierLimit = z
  .int()
  .min(1, 'an array holds one row at least')
  .max(100_000, 'an array holds 100,000 rows at most');
const outlier = z.strictObject({
  kind: z.literal('outlier'),
  name: fieldName,
  flag: fieldName,
  table: z.string(),
  relationship: z.string(),
  join: joinColumns.max(1, 'a flag holds a key of one column'),
  limit: outlierLimit,
  fields: z.array(columnField).min(1),
});
const attribute = z.strictObject({
  kind: z.literal('attribute'),
  name: fieldName,
  fields: z.array(columnField).min(1).max(MAX_ATTRIBUTES),
});
const aggregate = z.enum(['count', 'sum', 'avg', 'min', 'max']);
const cost = z.strictObject({
  documents: z.number(),
  lookups: z.number(),
  entries: z.number(),
  bytes: z.number(),
});
const computed = z.strictObject({
  kind: z.literal('computed'),
  name: fieldName,
  table: z.string(),
  relationship: z.string(),
  join: joinColumns,
  aggregate,
  column: z.string().optional(),
});
const embedField = z.strictObject({
  kind: z.enum(['embedOne', 'embedMany']),
  name: fieldName,
  table: z.string(),
  relationship: z.string(),
  join: joinColumns,
  orderBy: sortColumns,
  get fields() {
    return z.array(fieldSchema);
  },
});
const fieldSchema: z.ZodType<Field> = z.lazy(() =>
  z.discriminatedUnion('kind', [
    columnField,
    extendedReference,
    subset,
    outlier,
    computed,
    attribute,
    embedField,
  ]),
) as z.ZodType<Field>;

export const logicalDesignSchema: z.ZodType<LogicalDesign> = z.strictObject({
  collection: collectionName,
  rootTable: z.string(),
  id: idRule,
  fields: z.array(fieldSchema),
});

/**
 * A schema of 100 tables has about 200 relationships: no design comes near. What is larger is not
 * worth an hour of checks.
 */
const MAX_ENTRIES = 2000;
const MOST_NAMED = 20;

/** A list in which a name occurs once; repeated ones are named. */
const uniquely = <Entry extends z.ZodType>(
  entry: Entry,
  nameOf: (value: z.output<Entry>) => string,
) =>
  z
    .array(entry)
    .max(MAX_ENTRIES)
    .superRefine((list, context) => {
      const seen = new Set<string>();
      let named = 0;
      for (const [index, value] of list.entries()) {
        const name = nameOf(value);
        const isRepeated = seen.has(name);
        seen.add(name);
        if (!isRepeated || ++named > MOST_NAMED) continue;
        context.addIssue({
          code: 'custom',
          path: [index],
          message: `${name} is given more than once`,
        });
      }
    });

export const conceptualDesignSchema = z.strictObject({
  database: z.string(),
  strategy: z.enum(['access-pattern', 'one-to-one', 'fk-embedding']),
  collections: uniquely(
    z.strictObject({
      name: collectionName,
      rootTable: z.string(),
      id: idRule,
      attributes: z
        .strictObject({
          field: fieldName,
          columns: z.array(z.string()).min(1).max(MAX_ATTRIBUTES),
          queries: z.number().optional(),
        })
        .optional(),
    }),
    ({ name }) => name,
  ),
  relationships: uniquely(
    z.strictObject({
      relationship: z.string(),
      choice: z.enum(CHOICES),
      field: fieldName.optional(),
      columns: z.array(z.string()).min(1).optional(),
      parentField: fieldName.optional(),
      cardinality: z.enum(['one', 'many']).optional(),
      reason: z.string(),
      directed: z.boolean().optional(),
      computed: z
        .array(
          z.strictObject({
            field: fieldName,
            aggregate,
            column: z.string().optional(),
            queries: z.number().optional(),
          }),
        )
        .optional(),
      subset: z
        .strictObject({
          field: fieldName,
          limit: subsetLimit,
          orderBy: sortColumns.min(1),
          columns: z.array(z.string()).min(1),
          queries: z.number().optional(),
        })
        .optional(),
      outlier: z
        .strictObject({
          field: fieldName,
          flag: fieldName,
          limit: outlierLimit,
          columns: z.array(z.string()).min(1),
          queries: z.number().optional(),
        })
        .optional(),
      alternatives: z
        .array(
          z.strictObject({
            choice: z.enum(CHOICES),
            cost: cost.optional(),
            obstacle: z.string().optional(),
          }),
        )
        .optional(),
    }),
    ({ relationship }) => relationship,
  ),
  patterns: z.array(
    z.strictObject({
      pattern: z.string(),
      target: z.string(),
      reason: z.string(),
      status: z.enum(['applied', 'considered', 'avoided']).optional(),
    }),
  ),
  document: z.strictObject({
    source: z.string(),
    accessPatterns: z.string(),
    decisions: z.string(),
    result: z.string(),
  }),
}) as unknown as z.ZodType<ConceptualDesign>;

export const indexDesignSchema = z.record(
  collectionName,
  z.array(
    z.strictObject({
      key: z.record(z.string().min(1), z.union([z.literal(1), z.literal(-1)])),
      unique: z.boolean().optional(),
      reason: z.string(),
    }),
  ),
) as unknown as z.ZodType<IndexDesign>;

export const documentDesignSchema: z.ZodType<DocumentDesign> = z.strictObject({
  conceptual: conceptualDesignSchema,
  logical: z.array(logicalDesignSchema),
});
