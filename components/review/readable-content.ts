import type { ConceptualDesign, RelationshipChoice } from '../../lib/design/model/document-design';
import { describe } from '../../lib/design/model/transform-kind';
import type {
  EvidenceContent,
  GoldContent,
  TranslationContent,
} from '../../lib/pipeline/stages/artefacts';
import type { GateName } from '../../lib/pipeline/stages/stage';
import type { CollectionValidation } from '../../lib/validation/collection-validation';
import type { CrossValidation } from '../../lib/validation/cross-validation';
import type { TableValidation } from '../../lib/validation/table-validation';
import { printExtendedMql } from '../../lib/mql/print-extended-json';

/**
 * What a gate decides about as lines of text, so that two versions of it can be compared line by
 * line.
 */
export function readableContent(gate: GateName, content: unknown): string {
  switch (gate) {
    case 'conceptual_design':
      return conceptual(content as ConceptualDesign);
    case 'collection_validation':
      return collection(content as CollectionValidation);
    case 'cross_validation':
      return (content as CrossValidation).references
        .map((reference) =>
          [
            reference.relationship,
            `  ${referenceInWords(reference)}: ${reference.violations} in the documents, ` +
              `${reference.sourceViolations} in the source`,
            `  ${reference.from} against ${reference.to}, ${reference.distinctValues} distinct`,
          ].join('\n'),
        )
        .join('\n');
    case 'table_validation':
      return table(content as TableValidation);
    case 'untranslated': {
      const { mql, reason } = content as TranslationContent;
      return mql
        ? printExtendedMql(mql)
        : `not translated, reason ${reason?.code ?? 0}: ${reason?.text ?? ''}`;
    }
    case 'optimised_query': {
      const { mql, rules, undone } = content as GoldContent;
      return [
        printExtendedMql(mql),
        ...rules.map(({ rule, reason }) => `// ${rule}: ${reason}`),
        ...undone.map(({ rule, reason }) => `// ${rule} was undone: ${reason}`),
      ].join('\n');
    }
    case 'evidence':
      return (content as EvidenceContent).evidenceMql;
  }
}

const conceptual = (design: ConceptualDesign): string =>
  [
    ...decisionsOf(design).map(({ subject, text }) => `${subject}: ${text}`),
    'Why',
    ...reasonLines(design),
  ].join('\n');

/** What a design decides, one by one, without a word on why; what reviewers directed first. */
export function decisionsOf({
  collections,
  relationships,
  patterns,
}: ConceptualDesign): { readonly subject: string; readonly text: string }[] {
  const directedFirst = [...relationships].sort(
    (a, b) => Number(b.directed ?? false) - Number(a.directed ?? false),
  );
  return [
    ...directedFirst.map((choice) => ({
      subject: choice.relationship,
      text: [choiceText(choice), ...keptTexts(choice).map((kept) => `keeps ${kept}`)].join('; '),
    })),
    ...collections.map(({ name, rootTable, id, attributes }) => ({
      subject: `collection ${name}`,
      text:
        `${rowsIn(id)} ${rootTable}, _id ${idInWords(id)}` +
        (attributes
          ? `; repeats names and values as ${attributes.field}: ${attributes.columns.join(', ')}`
          : ''),
    })),
    ...patterns.map(({ pattern, target, status }) => ({
      subject: `${pattern} at ${target}`,
      text: status ?? 'applied',
    })),
  ];
}

/** Why, a line for each reason, and what the design's document says beside its decisions. */
export const reasonLines = ({ relationships, patterns, document }: ConceptualDesign): string[] => [
  ...relationships.map(({ relationship, reason }) => `${relationship}: ${reason}`),
  ...patterns.map(({ pattern, target, reason }) => `${pattern} at ${target}: ${reason}`),
  ...[document.source, document.accessPatterns, document.result].flatMap((part) =>
    part.split('\n'),
  ),
];

function choiceText({ choice, cardinality, field, columns, directed }: RelationshipChoice): string {
  return [
    choice,
    choice === 'embed' ? cardinality : '',
    field ? `as ${field}` : '',
    columns ? `(${choice === 'bucket' ? 'repeating ' : ''}${columns.join(', ')})` : '',
    directed ? '— set by reviewer' : '',
  ]
    .filter(Boolean)
    .join(' ');
}

/** What parents store of children that are not embedded in them. */
export const keptOf = ({
  computed = [],
  subset,
  outlier,
}: RelationshipChoice): readonly { readonly field: string; readonly what: string }[] => [
  ...computed.map(({ field, aggregate, column }) => ({
    field,
    what: `${aggregate}${column === undefined ? '' : ` of ${column}`}`,
  })),
  ...(subset
    ? [
        {
          field: subset.field,
          what:
            `first ${subset.limit} by ` +
            `${subset.orderBy.map(({ column, direction }) => `${column} ${direction}`).join(', ')}: ${subset.columns.join(', ')}`,
        },
      ]
    : []),
  ...(outlier
    ? [
        {
          field: outlier.field,
          what:
            `all up to ${outlier.limit}: ${outlier.columns.join(', ')}; of more none, and ` +
            `the key in ${outlier.flag}`,
        },
      ]
    : []),
];
const keptTexts = (choice: RelationshipChoice): string[] =>
  keptOf(choice).map(({ field, what }) => `${field}, ${what}`);

function collection({ mappings, coverage, faults }: CollectionValidation): string {
  return [
    ...Object.entries(coverage).map(
      ([path, by]) => `${path}: ${by.length === 0 ? 'not covered' : `covered by ${by.join(', ')}`}`,
    ),
    `${faults.planted} mutations, ${faults.holes.length} undetected`,
    ...faults.holes.map(({ kind, path }) => `  undetected: ${kind} at ${path}`),
    ...mappings.flatMap((mapping) => [
      '',
      `${mapping.name}: ${mapping.verdict.kind.replaceAll('_', ' ')}, ${mapping.verdict.detail}`,
      mapping.sql,
      printExtendedMql(mapping),
    ]),
  ].join('\n');
}

function table({ rows, place, rowsApart, columns, flags }: TableValidation): string {
  return [
    `${rows} source rows, found in ${place ?? 'nothing'}, ${rowsApart} do not hold together`,
    ...columns.map(
      ({ column, destination, matched, unmatched }) =>
        `${column}: ${destination ?? 'nowhere'}, ${matched} matched, ${unmatched} without a match`,
    ),
    ...flags.map(
      (flag) =>
        `${flag.column}: ${flag.class.replaceAll('_', ' ')}, ${flag.values} values, ` +
        `${flag.explanation}`,
    ),
  ].join('\n');
}

function referenceInWords({
  holds,
  violations,
}: Pick<CrossValidation['references'][number], 'holds' | 'violations'>): string {
  if (!holds) return 'violated';
  return violations > 0 ? 'violated exactly as in the source' : 'holds';
}

type IdRule = ConceptualDesign['collections'][number]['id'];

const rowsIn = (id: IdRule): string =>
  id.kind === 'bucket'
    ? `buckets of up to ${id.size} rows with the same ${id.columns.join(', ')} of`
    : 'the rows of';

function idInWords(id: IdRule): string {
  if (id.kind !== 'column') return 'by position';
  return id.transform.kind === 'identity'
    ? `from ${id.column}`
    : `from ${id.column}, ${describe(id.transform)}`;
}
