import type { Profile } from '../../sqlite/profile/profile';
import { numberChoice, type TypeSettings } from '../logical/retype';
import type { RelationshipChoice } from '../model/document-design';
import type { Draft } from './disposition';
import { text } from './markdown';

/** Columns of numbers written as text, with what becomes of each. */
export function numberChoices(profile: Profile, types: TypeSettings | undefined): string[] {
  if (types?.retype !== 'proven') return [];
  return profile.tables.flatMap(({ table, columns }) =>
    columns.flatMap((column) => {
      const choice = numberChoice(profile, table, column, types.textUses);
      if (!choice) return [];
      const stored = choice.stored === 'number' ? 'become numbers' : 'stay text';
      return [
        `- **${text(`${table}.${column.column}`)}** (${text(choice.format)}): the values ` +
          `${stored}: ${text(choice.reason)}.`,
      ];
    }),
  );
}

export function describeDecisions(design: Draft, numbers: readonly string[]): string {
  const choices = design.relationships.map((choice) => {
    const kept = keptOfChildren(choice);
    const field = choice.field ? ` as ${text(choice.field)}` : '';
    const columns = choice.columns ? ` (${choice.columns.map(text).join(', ')})` : '';
    const keeps = kept.length > 0 ? ` The parents keep ${kept.join('; ')}.` : '';
    return (
      `- **${text(choice.relationship)}: ${choice.choice}**${field}${columns}. ` +
      `${text(choice.reason)}${keeps}`
    );
  });
  const attributes = design.collections.flatMap(({ name, attributes: repeated }) =>
    repeated
      ? [
          `- **${text(name)}: attribute** as ${text(repeated.field)}. The documents repeat the ` +
            `names and values of ${repeated.columns.map(text).join(', ')} as an array, each of ` +
            'which keeps its own field.',
        ]
      : [],
  );
  const patterns = PATTERN_GROUPS.flatMap(({ status, title }) => {
    const uses = design.patterns.filter((use) => (use.status ?? 'applied') === status);
    return uses.length > 0
      ? [
          [
            `${title}:`,
            '',
            ...uses.map(
              ({ pattern, target, reason }) =>
                `- **${text(pattern)}** (${text(target)}). ${text(reason)}`,
            ),
          ].join('\n'),
        ]
      : [];
  });
  return [
    choices.length > 0 ? choices.join('\n') : 'There are no relationships between the tables.',
    ...(attributes.length > 0 ? [attributes.join('\n')] : []),
    ...(patterns.length > 0
      ? patterns
      : ['No pattern was applied or considered, no anti-pattern avoided.']),
    ...(numbers.length > 0 ? [`Numbers written as text:\n\n${numbers.join('\n')}`] : []),
  ].join('\n\n');
}

const PATTERN_GROUPS = [
  { status: 'applied', title: 'Patterns applied' },
  { status: 'considered', title: 'Patterns considered and left' },
  { status: 'avoided', title: 'Anti-patterns avoided' },
] as const;

/** What the parents' documents know of children that live elsewhere. */
function keptOfChildren({ computed = [], subset, outlier }: RelationshipChoice): string[] {
  const kept = computed.map(
    ({ field, aggregate, column }) =>
      `${text(field)} (${aggregate} of ${column === undefined ? 'the rows' : text(column)})`,
  );
  if (subset) {
    const order = subset.orderBy
      .map(({ column, direction }) => `${text(column)} ${direction}`)
      .join(', ');
    kept.push(
      `${text(subset.field)} (the first ${subset.limit} rows by ${order}: ` +
        `${subset.columns.map(text).join(', ')})`,
    );
  }
  if (outlier)
    kept.push(
      `${text(outlier.field)} (all rows where there are ${outlier.limit} at most: ` +
        `${outlier.columns.map(text).join(', ')}; with more none, and the key in ` +
        `${text(outlier.flag)})`,
    );
  return kept;
}
