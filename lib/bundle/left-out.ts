import { sourceIdOf, type ImportProblem } from '../sqlite/benchmark';
import type { BundleContent } from './content';

/** Something of the source that the bundle has no gold or no documents for, and why. */
export interface LeftOut {
  readonly kind: 'untranslated' | 'excluded' | ImportProblem['kind'];
  /** The item as `<question file>/<id>`, or what the problem of the import is about. */
  readonly subject: string;
  readonly database: string | null;
  readonly reason: string;
}

const OF_NO_CONSEQUENCE: ReadonlySet<ImportProblem['kind']> = new Set([
  'database_without_items',
  'description_unreadable',
]);

/**
 * Everything of the source that the bundle leaves out: items without gold, and what the import
 * could not take.
 */
export function leftOut({ databases, problems }: BundleContent): LeftOut[] {
  const items = databases.flatMap(({ items: entries }) =>
    entries.flatMap(({ item, status, reason }): LeftOut[] => {
      if (status === 'translated') return [];
      const why = status === 'excluded' ? 'a reviewer excluded it' : 'no reason is recorded';
      const subject = `${item.split}/${sourceIdOf(item)}`;
      return [{ kind: status, subject, database: item.database, reason: reason?.text ?? why }];
    }),
  );
  const refused = problems.filter(({ kind }) => !OF_NO_CONSEQUENCE.has(kind));
  return [
    ...items,
    ...refused.map(({ kind, subject, detail }) => ({
      kind,
      subject,
      database: null,
      reason: detail,
    })),
  ];
}
